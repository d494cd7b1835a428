type Node: scalarset(2);
var x: array [Node] of array [0..3] of boolean;
ruleset n: Node do
  alias row: x[n] do
    ruleset i := 0 to 2 by 2; j: boolean do
      startstate "all" begin clear x; row[i] := j; end;
      rule "flip" row[i] = j ==> begin row[i] := !j; end;
      invariant "row" row[i] | !row[i];
    end;
  end;
end;
