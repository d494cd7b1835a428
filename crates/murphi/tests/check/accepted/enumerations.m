type State: enum {Invalid, Shared, Modified};
var s: State; next: array [State] of State;
startstate begin s := Invalid; for t: State do next[t] := t; end; end;
rule s != Shared ==> begin s := next[s]; end;
