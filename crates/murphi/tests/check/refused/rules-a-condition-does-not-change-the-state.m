var x: 0..7;
procedure set(var n: 0..7); begin n := 1; end;
function next(): 0..7; begin set(x); return x; end;
function pure(): 0..7; var y: 0..7; begin set(y); return y; end;
startstate begin x := 0; end;
rule next() = pure() ==> begin end;
invariant next() = 0;
--! error: the condition of a rule must not change the state, but `next` does
--!  --> rules-a-condition-does-not-change-the-state.m:6:6
--!   |
--! 6 | rule next() = pure() ==> begin end;
--!   |      ^^^^
--! note: the state is changed here
--!  --> rules-a-condition-does-not-change-the-state.m:3:30
--!   |
--! 3 | function next(): 0..7; begin set(x); return x; end;
--!   |                              ---
--! error: an invariant must not change the state, but `next` does
--!  --> rules-a-condition-does-not-change-the-state.m:7:11
--!   |
--! 7 | invariant next() = 0;
--!   |           ^^^^
--! note: the state is changed here
--!  --> rules-a-condition-does-not-change-the-state.m:3:30
--!   |
--! 3 | function next(): 0..7; begin set(x); return x; end;
--!   |                              ---
