-- Elements of a multiset are counted by what another processor has for each of them.
-- fails with 5
const N: 3;
type P: scalarset(N); V: enum {A, B}; W: enum{C, D};
var x: array [P] of array [V] of W; m: multiset [3] of V; bad: boolean; n: 0..4; done: array [P] of W;
startstate begin for p: P do x[p][A] := C; x[p][B] := D; done[p] := C; end; bad := false; n := 0; undefine m; multisetadd(A, m); multisetadd(B, m); end;
ruleset p: P do
  rule "go" done[p] = C ==> begin
    if multisetcount(i: m, x[p][m[i]] = C) = 1 then
    if n < 4 then n := n + 1;
    else bad := true;
    end; end;
    done[p] := D;
  end;
end;
invariant "never" !bad | false;
