startstate begin end;
rule 5 "urgent" true ==> begin end;
--! error: priorities of rules are not supported
--!  --> unsupported-priorities-are-refused.m:2:6
--!   |
--! 2 | rule 5 "urgent" true ==> begin end;
--!   |      ^
--!   = help: `tribunal explore` supports priorities; `tribunal verify` does not
