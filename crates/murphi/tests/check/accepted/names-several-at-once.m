const A, B: 1;
type T, U: 0..B;
var x, y: T; z: U;
startstate begin x := A; y := x; z := y; end;
rule begin end;
