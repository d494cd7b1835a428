procedure send(); begin end;
startstate begin sned(); end;
rule begin end;
--! error: unknown function or procedure `sned`
--!  --> calls-an-unknown-function-is-refused-with-the-closest-one.m:2:18
--!   |
--! 2 | startstate begin sned(); end;
--!   |                  ^^^^
--!   = help: did you mean `send`?
