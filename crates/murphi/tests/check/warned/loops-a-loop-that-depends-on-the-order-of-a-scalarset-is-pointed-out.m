type Proc: scalarset(2);
var last: Proc; count: 0..2; wants: array [Proc] of boolean; next: array [Proc] of Proc;
function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
startstate begin
  count := 0;
  for p: Proc do
    wants[p] := true; next[p] := p; count := count + 1;
    alias n: next[p] do n := p; end;
  end;
end;
rule begin for p: Proc do if wants[p] then last := p; end; end; end;
--! warning: the function `first` may end without returning a value
--!  --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:3:10
--!   |
--! 3 | function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
--!   |          ^^^^^
--!   = help: if it does, that is an error at run time
--! warning: which round returns depends on the order of `Proc`, which has none
--!  --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:3:63
--!   |
--! 3 | function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
--!   |                                                               ^^^^^^^^
--!   = help: choose the member by `ruleset`, or return the same in all rounds, and write nothing; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!  --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:3:35
--!   |
--! 3 | function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
--!   |                                   -------
--! warning: what this leaves behind depends on the order of `Proc`, which has none
--!   --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:11:44
--!    |
--! 11 | rule begin for p: Proc do if wants[p] then last := p; end; end; end;
--!    |                                            ^^^^^^^^^
--!    = help: choose the member by `ruleset`, or let rounds only add up; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!   --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:11:16
--!    |
--! 11 | rule begin for p: Proc do if wants[p] then last := p; end; end; end;
--!    |                -------
