startstate begin end;
rule begin for i := 3 to 1 do end; end;
--! warning: there is nothing from 3 to 1 by steps of 1
--!  --> loops-a-loop-over-nothing-is-pointed-out.m:2:16
--!   |
--! 2 | rule begin for i := 3 to 1 do end; end;
--!   |                ^^^^^^^^^^^
