type Colour: enum { Red, Green };
const NodeCount: 2;
startstate begin end;
rule begin end;
--! options Blue=3
--! error: the model has no constant `Blue`
--!  --> options-only-declared-constants-are-offered.m:2:7
--!   |
--! 2 | const NodeCount: 2;
--!   |       ^^^^^^^^^
--!   = help: its constants are NodeCount
