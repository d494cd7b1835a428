var x: 0..1;
startstate begin undefine x; end;
rule x != undefined ==> begin end;
--! error: `undefined` cannot be an operand
--!  --> expressions-nothing-is-compared-with-undefined.m:3:11
--!   |
--! 3 | rule x != undefined ==> begin end;
--!   |           ^^^^^^^^^
--!   = help: test with `isundefined(x)`
