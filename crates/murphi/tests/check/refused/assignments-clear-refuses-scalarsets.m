type Proc: scalarset(2);
     Line: record owner: Proc; dirty: boolean; end;
var line: Line;
    last: Proc;
startstate begin clear line; clear last; end;
rule begin end;
--! error: cannot clear `line`: it holds a value of `Proc`, and no member of a scalarset is special
--!  --> assignments-clear-refuses-scalarsets.m:5:24
--!   |
--! 5 | startstate begin clear line; clear last; end;
--!   |                        ^^^^
--!   = help: use `undefine`, or assign a member
--! error: cannot clear `last`: no member of the scalarset `Proc` is special
--!  --> assignments-clear-refuses-scalarsets.m:5:36
--!   |
--! 5 | startstate begin clear line; clear last; end;
--!   |                                    ^^^^
--!   = help: use `undefine`, or assign a member
