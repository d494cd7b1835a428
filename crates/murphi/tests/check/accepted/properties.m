var x: 0..3;
startstate begin x := 0; end;
rule begin x := 3 - x; assert x < 3 | true "small"; assert x >= 0; assume x != 2; cover x = 3;
  if x = 1 then error "odd"; end; put "x is "; put x; end;
invariant "range" x <= 3;
invariant x >= 0;
assume "even" x % 2 = 0 | true;
cover "three" x = 3;
liveness "back" x = 0;
