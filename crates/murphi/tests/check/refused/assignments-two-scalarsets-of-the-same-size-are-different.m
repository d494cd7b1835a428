type Reader: scalarset(2);
     Writer: scalarset(2);
var reader: Reader;
startstate begin end;
ruleset w: Writer do rule begin reader := w; end; end;
--! error: cannot assign a value of `Writer` to `reader`, which is of type `Reader`
--!  --> assignments-two-scalarsets-of-the-same-size-are-different.m:5:43
--!   |
--! 5 | ruleset w: Writer do rule begin reader := w; end; end;
--!   |                                           ^
--!   = help: different scalarsets are different types, even if their sizes are equal
