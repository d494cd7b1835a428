type Node: scalarset(2); E: enum {A, B}; U: union {Node, E};
startstate begin end;
rule forall n: Node; e: E; u: U; b: boolean; i: 0..1 do u = e | u = n | b | i = 0 end ==> begin end;
rule exists u: U do ismember(u, Node) end ==> begin end;
