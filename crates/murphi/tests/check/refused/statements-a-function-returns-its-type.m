function f(): boolean; begin return 1; end;
function g(): 0..1; begin return; end;
startstate begin end;
rule begin end;
--! error: cannot return a value of `integer`: the result is of type `boolean`
--!  --> statements-a-function-returns-its-type.m:1:37
--!   |
--! 1 | function f(): boolean; begin return 1; end;
--!   |                                     ^
--! error: this function must return a value of `0..1`
--!  --> statements-a-function-returns-its-type.m:2:27
--!   |
--! 2 | function g(): 0..1; begin return; end;
--!   |                           ^^^^^^
