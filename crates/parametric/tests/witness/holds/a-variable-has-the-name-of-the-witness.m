-- The protocol has variables that are called as the new one would be.
const N: 3;
type P: scalarset(N); Place: enum { Nowhere, Here };
var token: array [P] of Place; witness: P; witness_2: array [P] of boolean;
ruleset p: P do
  startstate begin
    for q: P do token[q] := Nowhere; witness_2[q] := false; end;
    token[p] := Here; witness := p;
  end;
end;
ruleset witness_3: P; q: P do
  rule "send" token[witness_3] = Here & witness_3 != q ==>
  begin token[witness_3] := Nowhere; token[q] := Here; witness := witness_3; witness_2[q] := true; end;
end;
invariant "somebody has the token" exists q: P do token[q] = Here end;
