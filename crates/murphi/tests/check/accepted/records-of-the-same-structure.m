var a: record x: 0..3; y: boolean; end;
    b: record x: 0..3; y: boolean; end;
startstate begin a.x := 0; a.y := true; b := a; end;
rule a = b ==> begin end;
