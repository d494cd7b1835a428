var x: 0..1;
    y: 0..x + 1;
startstate begin end;
rule begin end;
--! error: the end of a range must be a constant expression
--!  --> types-the-ends-of-a-range-must-be-constants.m:2:11
--!   |
--! 2 |     y: 0..x + 1;
--!   |           ^
