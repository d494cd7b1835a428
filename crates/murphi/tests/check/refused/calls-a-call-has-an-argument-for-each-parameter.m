procedure send(x: boolean); begin end;
startstate begin send(true, false); end;
rule begin end;
--! error: `send` takes 1 argument, not 2
--!  --> calls-a-call-has-an-argument-for-each-parameter.m:2:18
--!   |
--! 2 | startstate begin send(true, false); end;
--!   |                  ^^^^
--! note: declared here
--!  --> calls-a-call-has-an-argument-for-each-parameter.m:1:11
--!   |
--! 1 | procedure send(x: boolean); begin end;
--!   |           ----
