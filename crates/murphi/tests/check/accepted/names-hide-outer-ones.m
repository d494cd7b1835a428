type Color: enum {Red, Green};
var x: 0..7; y: boolean;
procedure p(x: boolean); var y: Color; begin y := x ? Red : Green; end;
startstate var x: boolean; begin x := true; y := x; p(x); end;
rule var Red: 0..1; begin Red := 1; x := Red; end;
