type Proc: scalarset(3);
var state: enum {I, S, M};
    owner: Proc;
startstate begin end;
rule begin state := owner; end;
--! error: cannot assign a value of `Proc` to `state`, which is of type `enum {I, S, M}`
--!  --> assignments-an-assignment-needs-the-type-of-its-target.m:5:21
--!   |
--! 5 | rule begin state := owner; end;
--!   |                     ^^^^^
