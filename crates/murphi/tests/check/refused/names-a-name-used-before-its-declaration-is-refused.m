type Index: 0..Last;
const Last: 3;
var i: Index;
startstate begin i := 0; end;
rule begin end;
--! error: `Last` is used before its declaration
--!  --> names-a-name-used-before-its-declaration-is-refused.m:1:16
--!   |
--! 1 | type Index: 0..Last;
--!   |                ^^^^
--! note: declared here
--!  --> names-a-name-used-before-its-declaration-is-refused.m:2:7
--!   |
--! 2 | const Last: 3;
--!   |       ----
