type Node: scalarset(2);
     Line: record state: enum {I, S}; data: 0..1; sharers: array [Node] of boolean; end;
var cache: array [Node] of Line; memory: Line; copy: array [Node] of Line;
startstate begin clear memory; for n: Node do cache[n] := memory; end; copy := cache; end;
ruleset n: Node do
  rule cache[n] != memory | cache = copy ==> begin cache[n].sharers := memory.sharers; end;
end;
