const N: 3; M: N * 2 - 1; Check: M > 4 & !(N = 2); Bits: 1 << 4;
type Index: 0..M; Node: scalarset(N);
var x: array [Index] of -N..Bits - 1; b: boolean;
startstate begin b := Check; x[M] := -N; end;
rule begin x[0] := M % 2 = 1 ? M / 2 : N; end;
