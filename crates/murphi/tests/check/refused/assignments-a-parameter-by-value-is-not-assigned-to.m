type Line: record valid: boolean; end;
var lines: array [0..1] of Line;
procedure drop(line: Line); begin line.valid := false; end;
startstate begin drop(lines[0]); end;
rule begin end;
--! error: cannot assign to `line.valid`: `line` was passed by value
--!  --> assignments-a-parameter-by-value-is-not-assigned-to.m:3:35
--!   |
--! 3 | procedure drop(line: Line); begin line.valid := false; end;
--!   |                                   ^^^^^^^^^^
--!   = help: declare it as `var line`
