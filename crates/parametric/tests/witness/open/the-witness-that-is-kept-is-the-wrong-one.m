-- Of two who hold the lamp the later one is remembered, and puts it down first.
const N: 3;
type P: scalarset(N); Lamp: enum { Off, On };
var lamp: array [P] of Lamp; first: P; second: P;
startstate begin for q: P do lamp[q] := Off; end; undefine first; undefine second; end;
ruleset p: P do
  rule "take" isundefined(first) ==> begin first := p; lamp[p] := On; end;
  rule "help" !isundefined(first) & isundefined(second) & lamp[p] = Off ==>
  begin second := p; lamp[p] := On; end;
  rule "leave" !isundefined(second) & second = p ==> begin lamp[p] := Off; undefine second; end;
end;
invariant "somebody holds a lamp" isundefined(first) | exists q: P do lamp[q] = On end;
