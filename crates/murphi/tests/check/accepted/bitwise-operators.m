var x: 0..15; b: boolean;
startstate begin x := 5 & 3 | 8; b := true & false; end;
rule (x & 1) = 1 ==> begin x := (x ^ 3) & 15; x := (x >> 1) | (1 << 2); x := ~x & 15; end;
