const NodeCount: 2;
startstate begin end;
rule begin end;
--! options NodeCuont=3
--! error: the model has no constant `NodeCuont`
--!  --> options-a-chosen-constant-must-exist.m:1:7
--!   |
--! 1 | const NodeCount: 2;
--!   |       ^^^^^^^^^
--!   = help: did you mean `NodeCount`?
