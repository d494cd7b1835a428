type Node: scalarset(2);
     Message: record target: Node; kind: enum {Get, Drop}; end;
var net: multiset [3] of Message; nets: array [Node] of multiset [2] of boolean; n: 0..3;
startstate begin undefine net; for i: Node do clear nets[i]; end; n := 0; end;
ruleset i: Node do
  rule "send" MultisetCount(m: net, net[m].target = i) < 1 & MultisetCount(b: nets[i], true) < 2 ==>
    var message: Message;
  begin
    message.target := i; message.kind := Get; MultisetAdd(message, net); MultisetAdd(true, nets[i]);
  end;
  choose m: net do
    alias message: net[m] do
      rule "receive" message.target = i & message.kind = Get ==> begin MultisetRemove(m, net); end;
    end;
  end;
  choose b: nets[i] do rule nets[i][b] ==> begin nets[i][b] := false; end; end;
end;
rule begin MultisetRemovePred(m: net, net[m].kind = Drop); n := MultisetCount(m: net, true); end;
