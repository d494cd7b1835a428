type Proc: scalarset(2); Message: record from: Proc; end; Bag: multiset [2] of Message;
var all: boolean; rank: array [Proc] of 0..9; sum: 0..9; one, other: Bag; owner: Proc;
    bags: array [Proc] of Bag;
function bump(): boolean; begin sum := sum + 1; return sum > 3; end;
procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
startstate begin all := true; sum := 0; for p: Proc do rank[p] := 0; end; end;
rule "hides errors" begin for p: Proc do all := all & rank[p] = 0; end; end;
rule "up and down" begin for p: Proc do if rank[p] = 0 then sum := sum + 1; else sum := sum - 1; end; end; end;
rule "returns" begin for p: Proc do if rank[p] = 0 then rank[p] := 1; return; end; end; end;
rule "excludes" begin for p: Proc do assume sum = 0; sum := 1; end; end;
rule "removes" begin for p: Proc do MultisetRemovePred(i: one, one[i].from = p); end; end;
rule "counts" begin all := exists p: Proc do rank[p] = 0 & bump() end; end;
rule "filters" begin sum := MultisetCount(i: one, bump()); end;
choose i: one do rule "elsewhere" begin MultisetRemove(i, other); end; end;
choose i: one do choose j: other do rule "compares" i = j ==> begin end; end; end;
choose i: one do rule "renewed" begin one := other; MultisetRemove(i, one); end; end;
choose i: bags[owner] do rule "moved" begin MultisetRemove(i, bags[owner]); end; end;
choose i: bags[owner] do alias bag: bags[owner] do rule "renamed" begin MultisetRemove(i, bag); end; end; end;
rule "reference" begin for p: Proc do both(sum, p); both(rank[p], p); end; end;
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:4:56
--!    |
--!  4 | function bump(): boolean; begin sum := sum + 1; return sum > 3; end;
--!    |                                                        ^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:12:35
--!    |
--! 12 | rule "counts" begin all := exists p: Proc do rank[p] = 0 & bump() end; end;
--!    |                                   -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:86
--!   |
--! 5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!   |                                                                                      ^
--!   = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:49
--!   |
--! 5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!   |                                                 -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:86
--!    |
--!  5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!    |                                                                                      ^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:19:28
--!    |
--! 19 | rule "reference" begin for p: Proc do both(sum, p); both(rank[p], p); end; end;
--!    |                            -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:7:49
--!   |
--! 7 | rule "hides errors" begin for p: Proc do all := all & rank[p] = 0; end; end;
--!   |                                                 ^^^
--!   = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:7:31
--!   |
--! 7 | rule "hides errors" begin for p: Proc do all := all & rank[p] = 0; end; end;
--!   |                               -------
--! warning: the result of this loop depends on the order of `Proc`, whose members have no order
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:8:82
--!   |
--! 8 | …gin for p: Proc do if rank[p] = 0 then sum := sum + 1; else sum := sum - 1; end; end; end;
--!   |                                                              ^^^^^^^^^^^^^^
--!   = help: choose the member by a `ruleset` parameter, or let the iterations only accumulate (count, sum); otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:8:30
--!   |
--! 8 | rule "up and down" begin for p: Proc do if rank[p] = 0 then sum := sum + 1; else sum := sum - 1; end; end; end…
--!   |                              -------
--! warning: which iteration returns depends on the order of `Proc`, whose members have no order
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:9:71
--!   |
--! 9 | rule "returns" begin for p: Proc do if rank[p] = 0 then rank[p] := 1; return; end; end; end;
--!   |                                                                       ^^^^^^
--!   = help: choose the member by a `ruleset` parameter, or return the same value in all iterations without side effects; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:9:26
--!   |
--! 9 | rule "returns" begin for p: Proc do if rank[p] = 0 then rank[p] := 1; return; end; end; end;
--!   |                          -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:10:45
--!    |
--! 10 | rule "excludes" begin for p: Proc do assume sum = 0; sum := 1; end; end;
--!    |                                             ^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:10:27
--!    |
--! 10 | rule "excludes" begin for p: Proc do assume sum = 0; sum := 1; end; end;
--!    |                           -------
--! warning: this may depend on earlier iterations of the loop over `Proc`, whose members have no order
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:11:59
--!    |
--! 11 | rule "removes" begin for p: Proc do MultisetRemovePred(i: one, one[i].from = p); end; end;
--!    |                                                           ^^^
--!    = help: let the iterations only accumulate (count, sum), or choose the members by `ruleset` parameters; otherwise `Proc` is not used for symmetry reduction
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:11:26
--!    |
--! 11 | rule "removes" begin for p: Proc do MultisetRemovePred(i: one, one[i].from = p); end; end;
--!    |                          -------
--! warning: this condition has side effects for each element of a multiset, whose elements have no order
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:13:51
--!    |
--! 13 | rule "filters" begin sum := MultisetCount(i: one, bump()); end;
--!    |                                                   ^^^^^^
--!    = help: use a condition without side effects; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
--! warning: this position may no longer belong to the multiset it was chosen from; in another multiset it would depend on the order of the elements, which they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:14:56
--!    |
--! 14 | choose i: one do rule "elsewhere" begin MultisetRemove(i, other); end; end;
--!    |                                                        ^
--!    = help: use the position only in the multiset it was chosen from, and change one element at a time; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
--! warning: this position may no longer belong to the multiset it was chosen from; in another multiset it would depend on the order of the elements, which they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:15:53
--!    |
--! 15 | choose i: one do choose j: other do rule "compares" i = j ==> begin end; end; end;
--!    |                                                     ^
--!    = help: use the position only in the multiset it was chosen from, and change one element at a time; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
--! warning: this position may no longer belong to the multiset it was chosen from; in another multiset it would depend on the order of the elements, which they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:16:39
--!    |
--! 16 | choose i: one do rule "renewed" begin one := other; MultisetRemove(i, one); end; end;
--!    |                                       ^^^^^^^^^^^^
--!    = help: use the position only in the multiset it was chosen from, and change one element at a time; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
--! warning: this position may no longer belong to the multiset it was chosen from; in another multiset it would depend on the order of the elements, which they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:17:60
--!    |
--! 17 | choose i: bags[owner] do rule "moved" begin MultisetRemove(i, bags[owner]); end; end;
--!    |                                                            ^
--!    = help: use the position only in the multiset it was chosen from, and change one element at a time; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
--! warning: this position may no longer belong to the multiset it was chosen from; in another multiset it would depend on the order of the elements, which they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:18:88
--!    |
--! 18 | choose i: bags[owner] do alias bag: bags[owner] do rule "renamed" begin MultisetRemove(i, bag); end; end; end;
--!    |                                                                                        ^
--!    = help: use the position only in the multiset it was chosen from, and change one element at a time; otherwise elements are kept in the order in which they were added, and no scalarset is used for symmetry reduction
