var x: scalarset(2);
startstate begin end;
rule begin end;
--! warning: nothing else can have the type of a scalarset without a name
--!  --> types-a-scalarset-without-a-name-is-pointed-out.m:1:8
--!   |
--! 1 | var x: scalarset(2);
--!   |        ^^^^^^^^^^^^
--!   = help: give it one: `type Name: scalarset(…)`
