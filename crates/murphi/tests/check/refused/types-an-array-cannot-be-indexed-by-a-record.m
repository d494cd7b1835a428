type Pair: record a, b: boolean; end;
var x: array [Pair] of boolean;
startstate begin end;
rule begin end;
--! error: the index of an array cannot range over `Pair`
--!  --> types-an-array-cannot-be-indexed-by-a-record.m:2:15
--!   |
--! 2 | var x: array [Pair] of boolean;
--!   |               ^^^^
--!   = help: only ranges, booleans, enumerations, scalarsets and unions can be ranged over
