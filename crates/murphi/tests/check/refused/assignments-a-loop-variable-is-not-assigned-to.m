startstate begin end;
rule begin for i := 0 to 3 do i := 1; end; end;
--! error: cannot assign to `i`, which stands for each value in turn
--!  --> assignments-a-loop-variable-is-not-assigned-to.m:2:31
--!   |
--! 2 | rule begin for i := 0 to 3 do i := 1; end; end;
--!   |                               ^
--!   = help: use a separate variable: `var` declares one before `begin`
