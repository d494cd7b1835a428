procedure p(); begin return 1; end;
startstate begin end;
rule begin return true; end;
--! error: only a function can return a value
--!  --> statements-only-functions-return-values.m:1:29
--!   |
--! 1 | procedure p(); begin return 1; end;
--!   |                             ^
--! error: only a function can return a value
--!  --> statements-only-functions-return-values.m:3:19
--!   |
--! 3 | rule begin return true; end;
--!   |                   ^^^^
