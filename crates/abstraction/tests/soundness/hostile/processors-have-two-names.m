-- The type of processors has another name, which quantifiers and indices use.
-- fails with 4
const N: 3;
type P: scalarset(N); Q: P;
var c: array [Q] of 0..1; d: array [P] of 0..1; own: P; x: boolean; k: 0..3;
ruleset p: P do
  startstate begin
    for q: Q do c[q] := 0; d[q] := 0; end;
    c[p] := 1; own := p; k := 0; x := false;
  end;
end;
ruleset q: Q do
  rule "up" own != q & c[q] = 0 & k < 3 ==> begin c[q] := 1; k := k + 1; end;
end;
rule "all" k = 3 & (forall q: Q do c[q] = 1 end) ==> begin x := true; end;
invariant "own" forall p: P; q: P do p != q & x -> own = p | own = q end;
