var x: 0..7;
procedure outer(); begin middle(); inner(); end;
procedure middle(); begin inner(); end;
procedure inner(); begin x := 0; end;
startstate begin outer(); end;
rule begin middle(); end;
