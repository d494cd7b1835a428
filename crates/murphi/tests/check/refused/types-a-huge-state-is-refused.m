type Page: array [0..9999999] of boolean;
var a: Page;
    b: Page;
startstate begin end;
rule begin end;
--! error: a state would take 20000000 bytes or more
--!  --> types-a-huge-state-is-refused.m:3:5
--!   |
--! 3 |     b: Page;
--!   |     ^
--!   = help: a state may take up to 16777216 bytes
