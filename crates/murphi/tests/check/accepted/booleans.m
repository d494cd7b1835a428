var a, b: boolean; f: array [boolean] of boolean;
startstate begin a := true; b := !a; f[a] := b; f[false] := a | b & a -> b; end;
rule a = b | a != b ==> begin a := b = false; end;
rule a && b || a ==> begin end;
