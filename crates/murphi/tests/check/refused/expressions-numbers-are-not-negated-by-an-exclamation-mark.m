var x: 0..1;
startstate begin end;
rule !x ==> begin end;
--! error: the operand of `!` must be a boolean, but this is a value of `0..1`
--!  --> expressions-numbers-are-not-negated-by-an-exclamation-mark.m:3:7
--!   |
--! 3 | rule !x ==> begin end;
--!   |       ^
