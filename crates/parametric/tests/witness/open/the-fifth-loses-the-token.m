-- The token gets lost when it is sent for the fifth time, to somebody who never had it.
const N: 3;
type P: scalarset(N); Place: enum { Nowhere, Here };
var token: array [P] of Place; had: array [P] of boolean; sent: 0..4;
ruleset p: P do
  startstate begin
    for q: P do token[q] := Nowhere; had[q] := false; end;
    token[p] := Here; had[p] := true; sent := 0;
  end;
end;
ruleset p: P; q: P do
  rule "send" token[p] = Here & !had[q] ==>
  begin
    token[p] := Nowhere;
    had[q] := true;
    if sent < 4 then token[q] := Here; sent := sent + 1; end;
  end;
end;
invariant "somebody has the token" exists q: P do token[q] = Here end;
