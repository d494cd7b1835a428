type Process: scalarset(2);
var owner: Proces;
startstate begin end;
rule owner = owner ==> begin end;
--! error: unknown type `Proces`
--!  --> names-an-undeclared-type-is-refused-with-the-closest-one.m:2:12
--!   |
--! 2 | var owner: Proces;
--!   |            ^^^^^^
--!   = help: did you mean `Process`?
