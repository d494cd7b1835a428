type Line: record state: 0..3; owner: 0..1; end;
const N: 2;
var cache: array [0..1] of Line; x: 0..7;
startstate begin
  for i: 0..1 do alias line: cache[i]; s: line.state do s := 0; line.owner := i; end; end;
  x := 0;
end;
rule begin
  alias two: N; next: x + 1; me: cache[x % two] do
    switch next case two: x := 0; case 1, 3: x := next; else x := me.state; end;
  end;
end;
