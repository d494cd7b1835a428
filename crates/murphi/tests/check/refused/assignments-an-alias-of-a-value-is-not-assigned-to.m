var x: 0..7;
startstate begin x := 0; end;
rule begin alias next: x + 1 do next := 0; end; end;
--! error: cannot assign to `next`, which stands for a value, not for a variable
--!  --> assignments-an-alias-of-a-value-is-not-assigned-to.m:3:33
--!   |
--! 3 | rule begin alias next: x + 1 do next := 0; end; end;
--!   |                                 ^^^^
--!   = help: an alias can be changed only if it stands for a variable that can be changed
