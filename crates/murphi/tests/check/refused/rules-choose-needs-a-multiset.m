var x: array [0..1] of boolean;
startstate begin end;
choose i: x do rule begin end; end;
--! error: `x` is of type `array [0..1] of boolean`, not a multiset
--!  --> rules-choose-needs-a-multiset.m:3:11
--!   |
--! 3 | choose i: x do rule begin end; end;
--!   |           ^
