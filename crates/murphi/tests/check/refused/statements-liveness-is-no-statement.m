startstate begin end;
rule begin liveness true; end;
--! error: a liveness property cannot be a statement
--!  --> statements-liveness-is-no-statement.m:2:12
--!   |
--! 2 | rule begin liveness true; end;
--!   |            ^^^^^^^^^^^^^
--!   = help: a liveness property is about all states: put it among the rules
