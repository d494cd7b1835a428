procedure p(); begin end;
startstate begin end;
rule p() ==> begin end;
--! error: `p()` has no value: it calls a procedure
--!  --> calls-a-procedure-has-no-value.m:3:6
--!   |
--! 3 | rule p() ==> begin end;
--!   |      ^^^
