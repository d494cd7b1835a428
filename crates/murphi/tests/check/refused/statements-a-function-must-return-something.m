function f(): boolean; begin end;
startstate begin end;
rule f() ==> begin end;
--! error: the function `f` never returns a value
--!  --> statements-a-function-must-return-something.m:1:10
--!   |
--! 1 | function f(): boolean; begin end;
--!   |          ^
