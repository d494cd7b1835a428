Type
  Home: Scalarset (1); Proc: Scalarset (2); Node: Union {Home, Proc};
  Message: Record Home: Node; Value: 0..1; End;
Var
  Net: Array [0..1] of Message; Procs: Array [Proc] of boolean;
Procedure Send(Home: Node; Aux: Node; Value: 0..1);
Begin
  If Isundefined(Aux) Then Undefine Net[1]; Else Net[1].Home := Aux; Endif;
  Net[0].Home := Home; Net[0].Value := Value;
End;
Startstate Clear Procs; Undefine Net; Endstartstate;
Ruleset p: Proc; h: Home Do
  Rule "send" isundefined(Net[0].Home) ==> Var Nobody: Node; Begin
    Send(p, Nobody, 0); Send(h, p, undefined);
  Endrule;
Endruleset;
Ruleset i: 0..1 Do
  Rule !Isundefined(Net[i].Home) ==>
    Alias m: Net[i] Do Alias n: m.Home Do
      If Ismember(n, Proc) Then Alias me: Procs[n] Do me := true; Endalias; Endif;
    Endalias; Endalias;
  Endrule;
Endruleset;
