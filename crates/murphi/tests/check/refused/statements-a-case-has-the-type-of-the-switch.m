var state: enum {I, S};
startstate begin state := I; end;
rule begin switch state case I: case 1: end; end;
--! error: this case is a value of `integer`, but the `switch` is on `enum {I, S}`
--!  --> statements-a-case-has-the-type-of-the-switch.m:3:38
--!   |
--! 3 | rule begin switch state case I: case 1: end; end;
--!   |                                      ^
