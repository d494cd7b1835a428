type Proc: scalarset(2);
var flag: array [Proc] of boolean;
startstate begin flag[0] := true; end;
rule begin end;
--! error: `flag` is indexed by `Proc`, but this is a value of `integer`
--!  --> expressions-an-array-is-indexed-by-its-index-type.m:3:23
--!   |
--! 3 | startstate begin flag[0] := true; end;
--!   |                       ^
