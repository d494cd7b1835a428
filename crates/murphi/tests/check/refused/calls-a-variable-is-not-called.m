var x: boolean;
startstate begin x(); end;
rule begin end;
--! error: `x` is not a function or procedure
--!  --> calls-a-variable-is-not-called.m:2:18
--!   |
--! 2 | startstate begin x(); end;
--!   |                  ^
