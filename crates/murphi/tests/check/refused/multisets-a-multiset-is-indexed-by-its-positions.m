var net: multiset [2] of boolean;
startstate begin undefine net; end;
rule net[0] ==> begin end;
--! error: this is a value of `integer`, not a position in `multiset [2] of boolean`
--!  --> multisets-a-multiset-is-indexed-by-its-positions.m:3:10
--!   |
--! 3 | rule net[0] ==> begin end;
--!   |          ^
--!   = help: positions are bound by `choose`, `MultisetCount` and `MultisetRemovePred`
