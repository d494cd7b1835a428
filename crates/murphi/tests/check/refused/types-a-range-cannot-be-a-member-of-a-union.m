type Node: scalarset(2);
     Any: union {Node, 0..1};
startstate begin end;
rule begin end;
--! error: `0..1` cannot be a member of a union
--!  --> types-a-range-cannot-be-a-member-of-a-union.m:2:24
--!   |
--! 2 |      Any: union {Node, 0..1};
--!   |                        ^^^^
--!   = help: only enumerations and scalarsets can
