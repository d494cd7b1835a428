type Node: scalarset(2);
     Home: enum {Directory};
     Any: union {Node, Home};
     Other: enum {Elsewhere};
var who: Any;
startstate begin end;
rule ismember(who, Other) ==> begin end;
--! warning: this is never true: `Other` is not a member of `Any`
--!  --> expressions-a-question-that-is-never-true-is-pointed-out.m:7:6
--!   |
--! 7 | rule ismember(who, Other) ==> begin end;
--!   |      ^^^^^^^^^^^^^^^^^^^^
