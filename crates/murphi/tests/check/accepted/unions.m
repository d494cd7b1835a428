type Node: scalarset(2); Home: enum {Directory, Memory}; Any: union {Node, Home};
     Wide: union {Any, enum {Outside}};
var who: Any; where: Wide; last: Node; seen: array [Any] of boolean;
startstate begin who := Directory; for a: Any do seen[a] := false; end; where := Outside; end;
ruleset n: Node do
  rule who = n | n = who | who != Memory ==> begin who := n; seen[n] := true; where := who; end;
  rule ismember(who, Node) & !ismember(who, Home) ==> begin last := who; who := last; end;
  rule begin switch who case Directory: last := n; case Memory: who := n; else who := Memory; end; end;
end;
