-- Who has the token sends it to another. It is always with somebody, or on its way to somebody.
const N: 3;
type P: scalarset(N); Place: enum { Nowhere, Here };
var token: array [P] of Place; message: array [P] of Place;
ruleset p: P do
  startstate begin
    for q: P do token[q] := Nowhere; message[q] := Nowhere; end;
    token[p] := Here;
  end;
end;
ruleset p: P; q: P do
  rule "send" token[p] = Here & p != q ==> begin token[p] := Nowhere; message[q] := Here; end;
end;
ruleset p: P do
  rule "receive" message[p] = Here ==> begin message[p] := Nowhere; token[p] := Here; end;
end;
invariant "somebody has the token" exists q: P do token[q] = Here | message[q] = Here end;
