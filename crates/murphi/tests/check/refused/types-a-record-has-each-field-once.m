type Pair: record a: boolean; a: 0..1; end;
startstate begin end;
rule begin end;
--! error: the record has two fields `a`
--!  --> types-a-record-has-each-field-once.m:1:31
--!   |
--! 1 | type Pair: record a: boolean; a: 0..1; end;
--!   |                               ^
--! note: the first one
--!  --> types-a-record-has-each-field-once.m:1:19
--!   |
--! 1 | type Pair: record a: boolean; a: 0..1; end;
--!   |                   -
