const g: 9.81;
var x: real(6, 10);
startstate begin end;
rule begin end;
--! error: real numbers are not supported
--!  --> unsupported-real-numbers-are-refused.m:1:10
--!   |
--! 1 | const g: 9.81;
--!   |          ^^^^
--! error: real numbers are not supported
--!  --> unsupported-real-numbers-are-refused.m:2:8
--!   |
--! 2 | var x: real(6, 10);
--!   |        ^^^^^^^^^^^
