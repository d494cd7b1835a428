type Node: scalarset(2);
     Any: union {Node, enum {Nobody}, Node};
startstate begin end;
rule begin end;
--! error: `Node` is in the union twice
--!  --> types-a-union-has-each-member-once.m:2:39
--!   |
--! 2 |      Any: union {Node, enum {Nobody}, Node};
--!   |                                       ^^^^
