-- Messages that are compared as a whole.
-- fails with 2
const N: 3;
type P: scalarset(N); M: record who: P; end;
var here: array [P] of boolean; m: M; k: M; bad: boolean;
startstate begin for p: P do here[p] := false; end; undefine m; undefine k;
  bad := false; end;
ruleset p: P; q: P do
  rule "set" p != q & isundefined(m.who) ==> begin m.who := p; k.who := q; end;
end;
rule "compare" !isundefined(m.who) ==>
begin if m != k then bad := true; end; end;
invariant "never" !bad | false;
