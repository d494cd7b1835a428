var x: 0..1;
startstate begin x.value := 1; end;
rule begin end;
--! error: `x` has no field `value`: it is of type `0..1`
--!  --> expressions-only-records-have-fields.m:2:20
--!   |
--! 2 | startstate begin x.value := 1; end;
--!   |                    ^^^^^
