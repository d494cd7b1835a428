type Node: scalarset(2);
     Home: enum {Directory};
     Any: union {Node, Home};
     Other: enum {Elsewhere};
var who: Any;
startstate begin who := Elsewhere; end;
rule begin end;
--! error: cannot assign a value of `Other` to `who`, which is of type `Any`
--!  --> assignments-a-value-that-is-in-no-part-of-a-union-is-refused.m:6:25
--!   |
--! 6 | startstate begin who := Elsewhere; end;
--!   |                         ^^^^^^^^^
