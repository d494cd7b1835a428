procedure bump(var n: 0..7); begin n := n + 1; end;
procedure twice(n: 0..7); begin bump(n); end;
startstate begin end;
rule begin for i: 0..7 do bump(i); end; end;
--! error: cannot pass `n` for `var n`, which was passed by value
--!  --> calls-a-reference-needs-something-that-can-be-changed.m:2:38
--!   |
--! 2 | procedure twice(n: 0..7); begin bump(n); end;
--!   |                                      ^
--!   = help: declare it as `var n`
--! error: cannot pass `i` for `var n`, which stands for each value in turn
--!  --> calls-a-reference-needs-something-that-can-be-changed.m:4:32
--!   |
--! 4 | rule begin for i: 0..7 do bump(i); end; end;
--!   |                                ^
--!   = help: use a separate variable: `var` declares one before `begin`
