startstate begin end;
rule forall i: 0..1 do exists i: 0..1 do i = 0 end end ==> begin end;
--! warning: `i` hides a variable of the same name
--!  --> loops-a-variable-that-hides-another-is-pointed-out.m:2:31
--!   |
--! 2 | rule forall i: 0..1 do exists i: 0..1 do i = 0 end end ==> begin end;
--!   |                               ^
--! note: the hidden one
--!  --> loops-a-variable-that-hides-another-is-pointed-out.m:2:13
--!   |
--! 2 | rule forall i: 0..1 do exists i: 0..1 do i = 0 end end ==> begin end;
--!   |             -
