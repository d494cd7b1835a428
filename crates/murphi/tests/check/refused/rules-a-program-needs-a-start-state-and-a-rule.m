var x: boolean;
invariant x;
--! error: the program has no start state
--!  --> rules-a-program-needs-a-start-state-and-a-rule.m:2:12
--!   |
--! 2 | invariant x;
--!   |            ^
--!   = help: add `startstate … end`, which gives the variables their initial values
--! error: the program has no rules
--!  --> rules-a-program-needs-a-start-state-and-a-rule.m:2:12
--!   |
--! 2 | invariant x;
--!   |            ^
--!   = help: add `rule condition ==> … end`, a step the program can take
