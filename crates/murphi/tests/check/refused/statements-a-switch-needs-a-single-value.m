var pair: record a, b: boolean; end;
startstate begin end;
rule begin switch pair else end; end;
--! error: a `switch` needs a single value, but this is of type `record {a, b}`
--!  --> statements-a-switch-needs-a-single-value.m:3:19
--!   |
--! 3 | rule begin switch pair else end; end;
--!   |                   ^^^^
