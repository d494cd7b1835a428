const N: 0;
      M: 8 / N;
startstate begin end;
rule begin end;
--! error: this divides by zero
--!  --> types-a-constant-that-divides-by-zero-is-refused.m:2:10
--!   |
--! 2 |       M: 8 / N;
--!   |          ^^^^^
