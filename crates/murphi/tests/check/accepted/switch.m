type Kind: enum {Get, Move, Ack};
var k: Kind; x: 0..3; b: boolean;
startstate begin k := Get; x := 0; b := false; end;
rule begin
  switch k case Get: k := Move; case Move, Ack: k := Get; end;
  switch x case 0: x := 1; case x + 1: x := 2; else x := 0; end;
  switch b case true: return; else b := true; end;
end;
