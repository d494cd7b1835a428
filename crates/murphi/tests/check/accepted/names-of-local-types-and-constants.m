var x: 0..7;
startstate
  const Two: 2; type Pair: array [0..Two - 1] of 0..7; var pair: Pair;
begin pair[0] := Two; x := pair[0]; end;
rule type Mode: enum {On, Off}; var m: Mode; begin m := On; if m = Off then x := 0; end; end;
