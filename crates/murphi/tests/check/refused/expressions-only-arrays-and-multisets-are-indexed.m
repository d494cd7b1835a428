var x: 0..1;
startstate begin x[0] := 1; end;
rule begin end;
--! error: `x` cannot be indexed: it is of type `0..1`
--!  --> expressions-only-arrays-and-multisets-are-indexed.m:2:18
--!   |
--! 2 | startstate begin x[0] := 1; end;
--!   |                  ^
