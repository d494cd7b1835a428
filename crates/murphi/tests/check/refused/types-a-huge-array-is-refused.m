var memory: array [0..999999999] of boolean;
startstate begin end;
rule begin end;
--! error: a value of this type would take 1000000000 bytes or more
--!  --> types-a-huge-array-is-refused.m:1:13
--!   |
--! 1 | var memory: array [0..999999999] of boolean;
--!   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--!   = help: a state may take up to 16777216 bytes
