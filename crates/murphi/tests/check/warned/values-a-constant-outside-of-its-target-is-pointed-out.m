var x: 0..3; a: array [0..3] of boolean;
startstate begin x := 4; a[5] := true; end;
rule begin end;
--! warning: this value is 4, which is outside of `0..3`
--!  --> values-a-constant-outside-of-its-target-is-pointed-out.m:2:23
--!   |
--! 2 | startstate begin x := 4; a[5] := true; end;
--!   |                       ^
--!   = help: this is an error whenever it is executed
--! warning: this index is 5, which is outside of `0..3`
--!  --> values-a-constant-outside-of-its-target-is-pointed-out.m:2:28
--!   |
--! 2 | startstate begin x := 4; a[5] := true; end;
--!   |                            ^
--!   = help: this is an error whenever it is executed
