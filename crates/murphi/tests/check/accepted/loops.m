var x: 0..100; a: array [0..9] of 0..9;
startstate begin
  for i: 0..9 do a[i] := 0; end;
  for i := 0 to 9 by 3 do a[i] := i; end;
  for i := 9 to 0 by -1 do a[i] := i; end;
  x := 0;
  while x < 10 do x := x + 1; end;
end;
rule x > 0 ==> begin for i := 1 to x; j := i to x - 1 do x := x - 1; end; end;
rule forall i := 0 to x % 10 do a[i] = i end & exists i: 0..9; j: 0..9 do a[i] > a[j] end ==> begin end;
