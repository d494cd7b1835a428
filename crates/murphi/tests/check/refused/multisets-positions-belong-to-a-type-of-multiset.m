var net: multiset [2] of boolean;
    log: multiset [3] of boolean;
startstate begin undefine net; undefine log; end;
choose i: net do rule begin MultisetRemove(i, log); end; end;
--! error: this is a position in `multiset [2] of boolean`, not in `multiset [3] of boolean`
--!  --> multisets-positions-belong-to-a-type-of-multiset.m:4:44
--!   |
--! 4 | choose i: net do rule begin MultisetRemove(i, log); end; end;
--!   |                                            ^
--!   = help: positions are bound by `choose`, `MultisetCount` and `MultisetRemovePred`
