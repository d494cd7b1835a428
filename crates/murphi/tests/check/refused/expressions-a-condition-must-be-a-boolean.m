var x: 0..1;
startstate begin x := 0; end;
rule x ==> begin if x + 1 then x := 0; end; while 1 do end; end;
invariant x;
--! error: the condition of a rule must be a boolean, but this is a value of `0..1`
--!  --> expressions-a-condition-must-be-a-boolean.m:3:6
--!   |
--! 3 | rule x ==> begin if x + 1 then x := 0; end; while 1 do end; end;
--!   |      ^
--! error: the condition of an `if` must be a boolean, but this is a value of `integer`
--!  --> expressions-a-condition-must-be-a-boolean.m:3:21
--!   |
--! 3 | rule x ==> begin if x + 1 then x := 0; end; while 1 do end; end;
--!   |                     ^^^^^
--! error: the condition of a loop must be a boolean, but this is a value of `integer`
--!  --> expressions-a-condition-must-be-a-boolean.m:3:51
--!   |
--! 3 | rule x ==> begin if x + 1 then x := 0; end; while 1 do end; end;
--!   |                                                   ^
--! error: an invariant must be a boolean, but this is a value of `0..1`
--!  --> expressions-a-condition-must-be-a-boolean.m:4:11
--!   |
--! 4 | invariant x;
--!   |           ^
