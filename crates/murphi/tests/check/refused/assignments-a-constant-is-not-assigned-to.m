const N: 3;
startstate begin N := 4; end;
rule begin end;
--! error: cannot assign to `N`, which is a constant
--!  --> assignments-a-constant-is-not-assigned-to.m:2:18
--!   |
--! 2 | startstate begin N := 4; end;
--!   |                  ^
