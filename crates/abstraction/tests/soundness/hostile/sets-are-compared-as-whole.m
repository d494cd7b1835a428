-- Sets that are compared as a whole.
-- fails with 2
const N: 3;
type P: scalarset(N);
var s: array [P] of boolean; t: array [P] of boolean; bad: boolean;
startstate begin for p: P do s[p] := false; t[p] := false; end; bad := false; end;
ruleset p: P; q: P do
  rule "enter" p != q & (forall r: P do !s[r] end) ==>
  begin s[p] := true; t[q] := true; end;
end;
rule "compare" (exists r: P do s[r] end) ==>
begin if s != t then bad := true; end; end;
invariant "never" !bad | false;
