-- An assertion about a local variable.
-- fails with 3
const N: 3;
type P: scalarset(N); S: enum { I, A, B, C };
var st: array [P] of S; owner: P;
startstate begin for p: P do st[p] := I; end; undefine owner; end;
ruleset p: P do
  rule "a" st[p] = I ==> begin st[p] := A; end;
  rule "b" st[p] = I ==> begin st[p] := B; end;
  rule "c" st[p] = I ==> begin st[p] := C; owner := p; end;
end;
ruleset p: P; q: P do
  rule "look" st[p] = A & st[q] = B & !isundefined(owner) ==>
  var who: P;
  begin who := owner; assert st[who] != C "all of them"; end;
end;
