function f(n: 0..7): 0..7; begin return n = 0 ? 0 : f(n - 1); end;
startstate begin end;
rule f(1) = 0 ==> begin end;
--! error: recursion is not supported: `f` calls itself
--!  --> calls-recursion-is-refused.m:1:53
--!   |
--! 1 | function f(n: 0..7): 0..7; begin return n = 0 ? 0 : f(n - 1); end;
--!   |                                                     ^
--!   = help: `tribunal explore` supports recursion; `tribunal verify` does not
