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
--!   = help: that would be a run-time error
--! warning: which iteration returns depends on the order of `Proc`, whose members have no order
--!  --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:3:63
--!   |
--! 3 | function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
--!   |                                                               ^^^^^^^^
--!   = help: choose the member by a `ruleset` parameter, or return the same value in all iterations without side effects; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!  --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:3:35
--!   |
--! 3 | function first(): Proc; begin for p: Proc do if wants[p] then return p; end; end; end;
--!   |                                   -------
--! warning: the result of this loop depends on the order of `Proc`, whose members have no order
--!   --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:11:44
--!    |
--! 11 | rule begin for p: Proc do if wants[p] then last := p; end; end; end;
--!    |                                            ^^^^^^^^^
--!    = help: choose the member by a `ruleset` parameter, or let the iterations only accumulate (count, sum); otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-loop-that-depends-on-the-order-of-a-scalarset-is-pointed-out.m:11:16
--!    |
--! 11 | rule begin for p: Proc do if wants[p] then last := p; end; end; end;
--!    |                -------
