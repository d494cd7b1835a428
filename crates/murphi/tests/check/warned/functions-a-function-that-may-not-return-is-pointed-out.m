type Level: enum {Low, High};
var x: boolean; l: Level;
function f(): boolean; begin if x then return true; end; end;
function g(): boolean; begin if x then return true; else return false; end; end;
function h(): 0..2; begin switch l case Low: return 0; case High: return 1; end; end;
function k(): 0..2; begin switch l case Low: return 0; else error "no"; end; end;
startstate begin end;
rule begin end;
--! warning: the function `f` may end without returning a value
--!  --> functions-a-function-that-may-not-return-is-pointed-out.m:3:10
--!   |
--! 3 | function f(): boolean; begin if x then return true; end; end;
--!   |          ^
--!   = help: that would be a run-time error
