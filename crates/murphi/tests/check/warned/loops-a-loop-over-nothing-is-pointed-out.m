startstate begin end;
rule begin for i := 3 to 1 do end; end;
--! warning: the range from 3 to 1 by steps of 1 is empty
--!  --> loops-a-loop-over-nothing-is-pointed-out.m:2:16
--!   |
--! 2 | rule begin for i := 3 to 1 do end; end;
--!   |                ^^^^^^^^^^^
