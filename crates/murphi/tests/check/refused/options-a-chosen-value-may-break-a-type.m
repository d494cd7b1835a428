const N: 2;
type Node: scalarset(N);
startstate begin end;
rule begin end;
--! options N=0
--! error: the size of a scalarset cannot be 0
--!  --> options-a-chosen-value-may-break-a-type.m:2:22
--!   |
--! 2 | type Node: scalarset(N);
--!   |                      ^
--!   = help: it can be from 1 to 1048576
