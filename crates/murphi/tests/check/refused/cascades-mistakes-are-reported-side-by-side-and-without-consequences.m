type Node: scalarset(nodes);
     Line: record owner: Node; state: enum {I, S}; end;
var cache: array [Node] of Line;
    extra: 0..3;
procedure reset(n: Node); begin cache[n].state := I; end;
startstate begin for n: Node do reset(n); end; extra := S; end;
ruleset n: Node do rule cache[n].state = S ==> begin cache[n].state := 5; extra := I; end; end;
--! error: `nodes` is not declared
--!  --> cascades-mistakes-are-reported-side-by-side-and-without-consequences.m:1:22
--!   |
--! 1 | type Node: scalarset(nodes);
--!   |                      ^^^^^
--! error: cannot assign a value of `enum {I, S}` to `extra`, which is of type `0..3`
--!  --> cascades-mistakes-are-reported-side-by-side-and-without-consequences.m:6:57
--!   |
--! 6 | startstate begin for n: Node do reset(n); end; extra := S; end;
--!   |                                                         ^
--! error: cannot assign a value of `enum {I, S}` to `extra`, which is of type `0..3`
--!  --> cascades-mistakes-are-reported-side-by-side-and-without-consequences.m:7:84
--!   |
--! 7 | ruleset n: Node do rule cache[n].state = S ==> begin cache[n].state := 5; extra := I; end; end;
--!   |                                                                                    ^
