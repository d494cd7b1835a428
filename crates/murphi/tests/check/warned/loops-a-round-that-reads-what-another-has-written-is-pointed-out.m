type Proc: scalarset(3); Kind: enum { None, First, Rest };
var chosen: Proc; taken: boolean; count: 0..9; rank: array [Proc] of 0..9; kind: array [Proc] of Kind;
    wants: array [Proc] of boolean; log: array [0..9] of Kind; sum: 0..9; net: multiset [3] of Proc;
procedure note(k: Kind); begin log[count] := k; count := count + 1; end;
procedure raise(var n: 0..9); begin n := n + 1; if n > 5 then n := 0; end; end;
startstate begin
  taken := false; count := 0; sum := 0;
  for p: Proc do rank[p] := 0; kind[p] := None; wants[p] := true; end;
  for k: 0..9 do log[k] := None; end;
end;
rule "first come" begin
  for p: Proc do if wants[p] & !taken then taken := true; kind[p] := First; end; end;
end;
rule "rank" begin for p: Proc do count := count + 1; rank[p] := count; end; end;
rule "log" begin for p: Proc do if wants[p] then note(kind[p]); end; end; end;
rule "mix" begin for p: Proc do if wants[p] then sum := 0; else sum := sum + 1; end; end; end;
rule "raise" begin for p: Proc do raise(sum); end; end;
rule "alias" begin
  alias c: log[3] do for p: Proc do if c = None then wants[p] := false; log[3] := Rest; end; end; end;
end;
rule "room" begin
  for p: Proc do if MultisetCount(k: net, true) < 2 then MultisetAdd(p, net); end; end;
end;
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:4:36
--!    |
--!  4 | procedure note(k: Kind); begin log[count] := k; count := count + 1; end;
--!    |                                    ^^^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:15:22
--!    |
--! 15 | rule "log" begin for p: Proc do if wants[p] then note(kind[p]); end; end; end;
--!    |                      -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:5:52
--!    |
--!  5 | procedure raise(var n: 0..9); begin n := n + 1; if n > 5 then n := 0; end; end;
--!    |                                                    ^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:17:24
--!    |
--! 17 | rule "raise" begin for p: Proc do raise(sum); end; end;
--!    |                        -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:12:33
--!    |
--! 12 |   for p: Proc do if wants[p] & !taken then taken := true; kind[p] := First; end; end;
--!    |                                 ^^^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:12:7
--!    |
--! 12 |   for p: Proc do if wants[p] & !taken then taken := true; kind[p] := First; end; end;
--!    |       -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:14:65
--!    |
--! 14 | rule "rank" begin for p: Proc do count := count + 1; rank[p] := count; end; end;
--!    |                                                                 ^^^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:14:23
--!    |
--! 14 | rule "rank" begin for p: Proc do count := count + 1; rank[p] := count; end; end;
--!    |                       -------
--! warning: the result of this loop depends on the order of `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:16:65
--!    |
--! 16 | rule "mix" begin for p: Proc do if wants[p] then sum := 0; else sum := sum + 1; end; end; end;
--!    |                                                                 ^^^^^^^^^^^^^^
--!    = help: choose the member by a `ruleset` parameter, or let the iterations only accumulate (count, sum); otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:16:22
--!    |
--! 16 | rule "mix" begin for p: Proc do if wants[p] then sum := 0; else sum := sum + 1; end; end; end;
--!    |                      -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:19:40
--!    |
--! 19 |   alias c: log[3] do for p: Proc do if c = None then wants[p] := false; log[3] := Rest; end; end; end;
--!    |                                        ^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:19:26
--!    |
--! 19 |   alias c: log[3] do for p: Proc do if c = None then wants[p] := false; log[3] := Rest; end; end; end;
--!    |                          -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:22:38
--!    |
--! 22 |   for p: Proc do if MultisetCount(k: net, true) < 2 then MultisetAdd(p, net); end; end;
--!    |                                      ^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> loops-a-round-that-reads-what-another-has-written-is-pointed-out.m:22:7
--!    |
--! 22 |   for p: Proc do if MultisetCount(k: net, true) < 2 then MultisetAdd(p, net); end; end;
--!    |       -------
