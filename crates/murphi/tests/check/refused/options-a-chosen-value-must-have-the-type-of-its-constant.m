type Level: enum {Low, High};
const N: 2; Check: false; First: Low;
startstate begin end;
rule begin end;
--! options N=true Check=1 First=Medium
--! error: the constant `N` cannot be `true`
--!  --> options-a-chosen-value-must-have-the-type-of-its-constant.m:2:7
--!   |
--! 2 | const N: 2; Check: false; First: Low;
--!   |       ^
--!   = help: it must be an integer
--! error: the constant `Check` cannot be `1`
--!  --> options-a-chosen-value-must-have-the-type-of-its-constant.m:2:13
--!   |
--! 2 | const N: 2; Check: false; First: Low;
--!   |             ^^^^^
--!   = help: it must be `true` or `false`
--! error: the constant `First` cannot be `Medium`
--!  --> options-a-chosen-value-must-have-the-type-of-its-constant.m:2:27
--!   |
--! 2 | const N: 2; Check: false; First: Low;
--!   |                           ^^^^^
--!   = help: it must be a member of `Level`
