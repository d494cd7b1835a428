procedure ping(); begin pong(); end;
procedure pong(); begin pang(); end;
procedure pang(); begin ping(); end;
startstate begin end;
rule begin ping(); end;
--! error: recursion is not supported: `ping` calls `pong`, which calls `pang`, which calls `ping`
--!  --> calls-mutual-recursion-is-refused-with-the-cycle.m:1:25
--!   |
--! 1 | procedure ping(); begin pong(); end;
--!   |                         ^^^^
--!   = help: `tribunal explore` supports recursion; `tribunal verify` does not
--! note: the call in `pong`
--!  --> calls-mutual-recursion-is-refused-with-the-cycle.m:2:25
--!   |
--! 2 | procedure pong(); begin pang(); end;
--!   |                         ----
--! note: the call in `pang`
--!  --> calls-mutual-recursion-is-refused-with-the-cycle.m:3:25
--!   |
--! 3 | procedure pang(); begin ping(); end;
--!   |                         ----
