var x: 0..1; b: boolean;
startstate begin x := b ? 1 : true; end;
rule begin end;
--! error: one side of `:` is a value of `integer`, the other one of `boolean`
--!  --> expressions-both-sides-of-a-choice-have-the-same-type.m:2:23
--!   |
--! 2 | startstate begin x := b ? 1 : true; end;
--!   |                       ^^^^^^^^^^^^
