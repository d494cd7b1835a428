const N: 9223372036854775807 + 1;
startstate begin end;
rule begin end;
--! error: the result does not fit in 64 bits
--!  --> types-a-constant-beyond-64-bits-is-refused.m:1:10
--!   |
--! 1 | const N: 9223372036854775807 + 1;
--!   |          ^^^^^^^^^^^^^^^^^^^^^^^
