var x, y: boolean;
startstate begin end;
rule x + y = 2 ==> begin end;
--! error: the operands of `+` must be integers, but these are values of `boolean`
--!  --> expressions-booleans-are-not-added.m:3:6
--!   |
--! 3 | rule x + y = 2 ==> begin end;
--!   |      ^^^^^
