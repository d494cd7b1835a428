type Proc: scalarset(2);
var x: 0..1;
startstate begin end;
rule ismember(x, Proc) ==> begin end;
--! error: `ismember` takes a value of a union, but this is of type `0..1`
--!  --> expressions-ismember-asks-about-unions.m:4:15
--!   |
--! 4 | rule ismember(x, Proc) ==> begin end;
--!   |               ^
