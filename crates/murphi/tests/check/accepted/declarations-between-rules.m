var x: 0..3;
startstate begin x := 0; y := false; end;
const N: 3;
rule begin x := N; end;
var y: boolean;
rule y ==> begin y := !y; end;
