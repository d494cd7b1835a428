var x: 0..3;
procedure bump(var n: 0..7); begin n := n + 1; end;
startstate begin bump(x); bump(x + 1); bump(7); end;
rule begin end;
--! error: `var n` is of type `0..7`, but this is of type `0..3`
--!  --> calls-a-reference-needs-a-variable-of-exactly-its-type.m:3:23
--!   |
--! 3 | startstate begin bump(x); bump(x + 1); bump(7); end;
--!   |                       ^
--!   = help: an argument passed by reference must have exactly the type of the parameter
--! error: only a variable can be passed for `var n`
--!  --> calls-a-reference-needs-a-variable-of-exactly-its-type.m:3:32
--!   |
--! 3 | startstate begin bump(x); bump(x + 1); bump(7); end;
--!   |                                ^^^^^
--! error: only a variable can be passed for `var n`
--!  --> calls-a-reference-needs-a-variable-of-exactly-its-type.m:3:45
--!   |
--! 3 | startstate begin bump(x); bump(x + 1); bump(7); end;
--!   |                                             ^
