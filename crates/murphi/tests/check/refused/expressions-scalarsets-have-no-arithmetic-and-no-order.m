type Proc: scalarset(2);
startstate begin end;
ruleset p: Proc; q: Proc do rule p < q & p + 1 = 2 ==> begin end; end;
--! error: the operands of `<` must be integers, but these are values of `Proc`
--!  --> expressions-scalarsets-have-no-arithmetic-and-no-order.m:3:34
--!   |
--! 3 | ruleset p: Proc; q: Proc do rule p < q & p + 1 = 2 ==> begin end; end;
--!   |                                  ^^^^^
--!   = help: members of a scalarset have no order: compare them with `=` and `!=` only
--! error: an operand of `+` must be an integer, but this is a value of `Proc`
--!  --> expressions-scalarsets-have-no-arithmetic-and-no-order.m:3:42
--!   |
--! 3 | ruleset p: Proc; q: Proc do rule p < q & p + 1 = 2 ==> begin end; end;
--!   |                                          ^
--!   = help: members of a scalarset have no order: compare them with `=` and `!=` only
