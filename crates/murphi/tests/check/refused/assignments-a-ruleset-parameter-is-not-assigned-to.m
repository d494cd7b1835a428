type Proc: scalarset(2);
startstate begin end;
ruleset p: Proc do rule begin undefine p; end; end;
--! error: cannot undefine `p`, which stands for each value in turn
--!  --> assignments-a-ruleset-parameter-is-not-assigned-to.m:3:40
--!   |
--! 3 | ruleset p: Proc do rule begin undefine p; end; end;
--!   |                                        ^
--!   = help: use a separate variable: `var` declares one before `begin`
