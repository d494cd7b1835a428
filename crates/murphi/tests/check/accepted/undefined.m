var x, y: 0..3; r: record a: boolean; end;
startstate begin x := undefined; undefine r; end;
rule isundefined(x) & isundefined(r.a) & !isundefined(true) ==> begin y := x; end;
