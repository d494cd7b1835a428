type Proc: scalarset(2);
var x: 0..1;
startstate begin end;
ruleset p: Proc do rule x = p ==> begin end; end;
--! error: cannot compare a value of `0..1` with one of `Proc`
--!  --> expressions-values-of-different-types-are-not-compared.m:4:25
--!   |
--! 4 | ruleset p: Proc do rule x = p ==> begin end; end;
--!   |                         ^^^^^
