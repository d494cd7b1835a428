var net: multiset [1000000000] of 0..1000;
startstate begin end;
rule begin end;
--! error: a value of this type would take 3000000004 bytes or more
--!  --> types-a-huge-multiset-is-refused.m:1:10
--!   |
--! 1 | var net: multiset [1000000000] of 0..1000;
--!   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--!   = help: a state may take up to 16777216 bytes
