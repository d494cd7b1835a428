var a: record x: 0..1; end;
    b: record x: 0..2; end;
startstate begin a := b; end;
rule begin end;
--! error: cannot assign a value of `record {x}` to `a`, which is of type `record {x}`
--!  --> assignments-records-of-different-structure-are-different.m:3:23
--!   |
--! 3 | startstate begin a := b; end;
--!   |                       ^
--! note: the type of the value
--!  --> assignments-records-of-different-structure-are-different.m:2:8
--!   |
--! 2 |     b: record x: 0..2; end;
--!   |        -------------------
--! note: the expected type
--!  --> assignments-records-of-different-structure-are-different.m:1:8
--!   |
--! 1 | var a: record x: 0..1; end;
--!   |        -------------------
