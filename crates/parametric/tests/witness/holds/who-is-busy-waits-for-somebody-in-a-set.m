-- Home asks all who have a copy to give it back, and is busy until the last has done so.
const N: 3;
type P: scalarset(N); Request: enum { None, GiveBack };
var copy: array [P] of boolean; asked: array [P] of boolean; request: array [P] of Request;
  busy: boolean;
startstate begin
  for q: P do copy[q] := false; asked[q] := false; request[q] := None; end;
  busy := false;
end;
ruleset p: P do
  rule "copy" !busy ==> begin copy[p] := true; end;
  rule "give back" request[p] = GiveBack ==>
  begin
    request[p] := None; copy[p] := false; asked[p] := false;
    if forall q: P do !asked[q] end then busy := false; end;
  end;
end;
rule "ask" !busy & exists q: P do copy[q] end ==>
begin
  busy := true;
  for q: P do if copy[q] then asked[q] := true; request[q] := GiveBack; end; end;
end;
invariant "home waits for somebody" busy -> exists q: P do request[q] = GiveBack end;
