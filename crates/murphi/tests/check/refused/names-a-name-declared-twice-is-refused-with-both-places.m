var x: boolean;
var y, x: boolean;
startstate begin end;
rule begin end;
--! error: `x` is declared twice
--!  --> names-a-name-declared-twice-is-refused-with-both-places.m:2:8
--!   |
--! 2 | var y, x: boolean;
--!   |        ^
--! note: first declared here
--!  --> names-a-name-declared-twice-is-refused-with-both-places.m:1:5
--!   |
--! 1 | var x: boolean;
--!   |     -
