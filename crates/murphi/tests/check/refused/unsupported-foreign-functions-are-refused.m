externfun f(x: boolean): boolean "f.h";
startstate begin end;
rule f(true) ==> begin end;
--! error: functions in foreign code (`externfun`) are not supported
--!  --> unsupported-foreign-functions-are-refused.m:1:11
--!   |
--! 1 | externfun f(x: boolean): boolean "f.h";
--!   |           ^
