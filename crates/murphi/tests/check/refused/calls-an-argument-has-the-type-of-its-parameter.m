procedure send(x: boolean); begin end;
startstate begin send(3); end;
rule begin end;
--! error: cannot pass a value of `integer` for `x`, which is of type `boolean`
--!  --> calls-an-argument-has-the-type-of-its-parameter.m:2:23
--!   |
--! 2 | startstate begin send(3); end;
--!   |                       ^
