type Level: enum {Low, High};
var level: Level;
startstate begin end;
rule level >= Low ==> begin end;
--! error: the operands of `>=` must be integers, but these are values of `Level`
--!  --> expressions-enumerations-have-no-order.m:4:6
--!   |
--! 4 | rule level >= Low ==> begin end;
--!   |      ^^^^^^^^^^^^
--!   = help: members of an enumeration are compared with `=` and `!=` only
