var pair: record a, b: boolean; end;
startstate begin end;
rule isundefined(pair) ==> begin end;
--! error: only a single value can be undefined, but `pair` is of type `record {a, b}`
--!  --> expressions-only-single-values-can-be-undefined.m:3:18
--!   |
--! 3 | rule isundefined(pair) ==> begin end;
--!   |                  ^^^^
--!   = help: use `isundefined` on one of its components
