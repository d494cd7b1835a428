type Bits: array [0..3] of boolean;
var x: Bits;
procedure mark(var bits: Bits); begin bits[0] := true; end;
function marked(bits: Bits): boolean; var copy: Bits; begin copy := bits; mark(copy); return copy[0]; end;
startstate begin clear x; end;
rule marked(x) ==> begin mark(x); end;
invariant marked(x);
