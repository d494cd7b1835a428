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
rule "reference" begin for p: Proc do both(sum, p); both(rank[p], p); end; end;
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:4:56
--!    |
--!  4 | function bump(): boolean; begin sum := sum + 1; return sum > 3; end;
--!    |                                                        ^^^
--!    = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:12:35
--!    |
--! 12 | rule "counts" begin all := exists p: Proc do rank[p] = 0 & bump() end; end;
--!    |                                   -------
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:86
--!   |
--! 5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!   |                                                                                      ^
--!   = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:49
--!   |
--! 5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!   |                                                 -------
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:5:86
--!    |
--!  5 | procedure both(var x: 0..9; p: Proc); begin for q: Proc do if q != p then rank[q] := x; end; end; end;
--!    |                                                                                      ^
--!    = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:18:28
--!    |
--! 18 | rule "reference" begin for p: Proc do both(sum, p); both(rank[p], p); end; end;
--!    |                            -------
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:7:49
--!   |
--! 7 | rule "hides errors" begin for p: Proc do all := all & rank[p] = 0; end; end;
--!   |                                                 ^^^
--!   = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:7:31
--!   |
--! 7 | rule "hides errors" begin for p: Proc do all := all & rank[p] = 0; end; end;
--!   |                               -------
--! warning: what this leaves behind depends on the order of `Proc`, which has none
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:8:82
--!   |
--! 8 | …gin for p: Proc do if rank[p] = 0 then sum := sum + 1; else sum := sum - 1; end; end; end;
--!   |                                                              ^^^^^^^^^^^^^^
--!   = help: choose the member by `ruleset`, or let rounds only add up; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:8:30
--!   |
--! 8 | rule "up and down" begin for p: Proc do if rank[p] = 0 then sum := sum + 1; else sum := sum - 1; end; end; end…
--!   |                              -------
--! warning: which round returns depends on the order of `Proc`, which has none
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:9:71
--!   |
--! 9 | rule "returns" begin for p: Proc do if rank[p] = 0 then rank[p] := 1; return; end; end; end;
--!   |                                                                       ^^^^^^
--!   = help: choose the member by `ruleset`, or return the same in all rounds, and write nothing; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!  --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:9:26
--!   |
--! 9 | rule "returns" begin for p: Proc do if rank[p] = 0 then rank[p] := 1; return; end; end; end;
--!   |                          -------
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:10:45
--!    |
--! 10 | rule "excludes" begin for p: Proc do assume sum = 0; sum := 1; end; end;
--!    |                                             ^^^
--!    = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:10:27
--!    |
--! 10 | rule "excludes" begin for p: Proc do assume sum = 0; sum := 1; end; end;
--!    |                           -------
--! warning: this may see what other rounds of the loop over `Proc` have left, in an order that `Proc` does not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:11:59
--!    |
--! 11 | rule "removes" begin for p: Proc do MultisetRemovePred(i: one, one[i].from = p); end; end;
--!    |                                                           ^^^
--!    = help: let rounds only add up, or choose the members by `ruleset`; as it is, `Proc` is no symmetry of this program
--! note: the loop
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:11:26
--!    |
--! 11 | rule "removes" begin for p: Proc do MultisetRemovePred(i: one, one[i].from = p); end; end;
--!    |                          -------
--! warning: this condition changes something for one element of a multiset after the other, in an order that they do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:13:51
--!    |
--! 13 | rule "filters" begin sum := MultisetCount(i: one, bump()); end;
--!    |                                                   ^^^^^^
--!    = help: let the condition only look; as it is, elements are kept in the order in which they were added, and scalarsets are no symmetry of this program
--! warning: it is not evident that this position is still one of the multiset it was chosen from; in another one it picks an element by an order that elements do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:14:56
--!    |
--! 14 | choose i: one do rule "elsewhere" begin MultisetRemove(i, other); end; end;
--!    |                                                        ^
--!    = help: use it in the multiset it was chosen from, and change elements one by one; as it is, elements are kept in the order in which they were added, and scalarsets are no symmetry of this program
--! warning: it is not evident that this position is still one of the multiset it was chosen from; in another one it picks an element by an order that elements do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:15:53
--!    |
--! 15 | choose i: one do choose j: other do rule "compares" i = j ==> begin end; end; end;
--!    |                                                     ^
--!    = help: use it in the multiset it was chosen from, and change elements one by one; as it is, elements are kept in the order in which they were added, and scalarsets are no symmetry of this program
--! warning: it is not evident that this position is still one of the multiset it was chosen from; in another one it picks an element by an order that elements do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:16:39
--!    |
--! 16 | choose i: one do rule "renewed" begin one := other; MultisetRemove(i, one); end; end;
--!    |                                       ^^^^^^^^^^^^
--!    = help: use it in the multiset it was chosen from, and change elements one by one; as it is, elements are kept in the order in which they were added, and scalarsets are no symmetry of this program
--! warning: it is not evident that this position is still one of the multiset it was chosen from; in another one it picks an element by an order that elements do not have
--!   --> order-what-shows-the-order-of-members-or-elements-is-pointed-out.m:17:60
--!    |
--! 17 | choose i: bags[owner] do rule "moved" begin MultisetRemove(i, bags[owner]); end; end;
--!    |                                                            ^
--!    = help: use it in the multiset it was chosen from, and change elements one by one; as it is, elements are kept in the order in which they were added, and scalarsets are no symmetry of this program
