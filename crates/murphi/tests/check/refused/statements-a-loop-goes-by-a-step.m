startstate begin end;
rule begin for i := 0 to 3 by 0 do end; end;
--! error: the step of a range cannot be 0
--!  --> statements-a-loop-goes-by-a-step.m:2:31
--!   |
--! 2 | rule begin for i := 0 to 3 by 0 do end; end;
--!   |                               ^
