var n: 0..7;
startstate begin n := 0; end;
ruleset i := 0 to n do rule begin end; end;
--! error: the range of a ruleset must be constant
--!  --> rules-the-range-of-a-ruleset-is-constant.m:3:19
--!   |
--! 3 | ruleset i := 0 to n do rule begin end; end;
--!   |                   ^
--!   = help: use a constant range that covers all values, and put the restriction into the guard
