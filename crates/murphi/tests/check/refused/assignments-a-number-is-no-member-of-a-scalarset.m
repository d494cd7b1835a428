type Proc: scalarset(3);
var owner: Proc;
startstate begin owner := 1; end;
rule begin end;
--! error: cannot assign a value of `integer` to `owner`, which is of type `Proc`
--!  --> assignments-a-number-is-no-member-of-a-scalarset.m:3:27
--!   |
--! 3 | startstate begin owner := 1; end;
--!   |                           ^
--!   = help: members of a scalarset have no numbers: bind one with `ruleset`, `for` or `exists`
