type Pair: record a, b: boolean; end;
startstate begin end;
rule begin for p: Pair do end; end;
--! error: `p` cannot range over `Pair`
--!  --> statements-a-loop-goes-through-single-values.m:3:19
--!   |
--! 3 | rule begin for p: Pair do end; end;
--!   |                   ^^^^
--!   = help: only ranges, booleans, enumerations, scalarsets and unions can be ranged over
