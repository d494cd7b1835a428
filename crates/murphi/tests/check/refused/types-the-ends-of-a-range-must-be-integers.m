var x: false..true;
startstate begin end;
rule begin end;
--! error: the end of a range must be an integer, not a `boolean`
--!  --> types-the-ends-of-a-range-must-be-integers.m:1:8
--!   |
--! 1 | var x: false..true;
--!   |        ^^^^^
--! error: the end of a range must be an integer, not a `boolean`
--!  --> types-the-ends-of-a-range-must-be-integers.m:1:15
--!   |
--! 1 | var x: false..true;
--!   |               ^^^^
