var x: 3..1;
startstate begin end;
rule begin end;
--! error: the range 3..1 is empty
--!  --> types-an-empty-range-is-refused.m:1:8
--!   |
--! 1 | var x: 3..1;
--!   |        ^^^^
--!   = help: its first value must not be above its last
