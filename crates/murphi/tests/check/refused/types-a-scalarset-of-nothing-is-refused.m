type Node: scalarset(0);
startstate begin end;
rule begin end;
--! error: the size of a scalarset cannot be 0
--!  --> types-a-scalarset-of-nothing-is-refused.m:1:22
--!   |
--! 1 | type Node: scalarset(0);
--!   |                      ^
--!   = help: it can be from 1 to 1048576
