type Node: scalarset(1000000000000);
startstate begin end;
rule begin end;
--! error: the size of a scalarset cannot be 1000000000000
--!  --> types-a-huge-scalarset-is-refused.m:1:22
--!   |
--! 1 | type Node: scalarset(1000000000000);
--!   |                      ^^^^^^^^^^^^^
--!   = help: it can be from 1 to 1048576
