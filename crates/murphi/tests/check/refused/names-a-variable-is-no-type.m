var x: 0..1;
    y: x;
startstate begin end;
rule begin end;
--! error: `x` is not a type
--!  --> names-a-variable-is-no-type.m:2:8
--!   |
--! 2 |     y: x;
--!   |        ^
