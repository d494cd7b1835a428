var x: scalarset(2);
startstate begin end;
rule begin end;
--! warning: a scalarset without a name cannot be used anywhere else
--!  --> types-a-scalarset-without-a-name-is-pointed-out.m:1:8
--!   |
--! 1 | var x: scalarset(2);
--!   |        ^^^^^^^^^^^^
--!   = help: give it one: `type Name: scalarset(…)`
