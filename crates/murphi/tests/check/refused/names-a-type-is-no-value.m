type Bit: 0..1;
var x: Bit;
startstate begin x := Bit; end;
rule begin end;
--! error: `Bit` is a type, not a value
--!  --> names-a-type-is-no-value.m:3:23
--!   |
--! 3 | startstate begin x := Bit; end;
--!   |                       ^^^
