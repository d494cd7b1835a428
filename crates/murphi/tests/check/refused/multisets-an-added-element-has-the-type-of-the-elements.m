var net: multiset [2] of boolean; x: 0..1;
startstate begin MultisetAdd(x, net); MultisetAdd(x, x); end;
rule begin end;
--! error: cannot add a value of `0..1` to `net`, whose elements are `boolean`
--!  --> multisets-an-added-element-has-the-type-of-the-elements.m:2:30
--!   |
--! 2 | startstate begin MultisetAdd(x, net); MultisetAdd(x, x); end;
--!   |                              ^
--! error: `x` is of type `0..1`, not a multiset
--!  --> multisets-an-added-element-has-the-type-of-the-elements.m:2:54
--!   |
--! 2 | startstate begin MultisetAdd(x, net); MultisetAdd(x, x); end;
--!   |                                                      ^
