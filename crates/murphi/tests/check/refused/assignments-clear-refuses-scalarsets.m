type Proc: scalarset(2);
     Line: record owner: Proc; dirty: boolean; end;
var line: Line;
    last: Proc;
startstate begin clear line; clear last; end;
rule begin end;
--! error: cannot clear `line`: it holds a value of `Proc`, and a scalarset has no first member
--!  --> assignments-clear-refuses-scalarsets.m:5:24
--!   |
--! 5 | startstate begin clear line; clear last; end;
--!   |                        ^^^^
--!   = help: use `undefine`, or assign a member
--! error: cannot clear `last`: the scalarset `Proc` has no first member
--!  --> assignments-clear-refuses-scalarsets.m:5:36
--!   |
--! 5 | startstate begin clear line; clear last; end;
--!   |                                    ^^^^
--!   = help: use `undefine`, or assign a member
