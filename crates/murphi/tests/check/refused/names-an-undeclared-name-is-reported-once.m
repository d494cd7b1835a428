startstate begin end;
rule begin x := 1; x := 2; end;
rule begin x := 3; end;
--! error: `x` is not declared
--!  --> names-an-undeclared-name-is-reported-once.m:2:12
--!   |
--! 2 | rule begin x := 1; x := 2; end;
--!   |            ^
