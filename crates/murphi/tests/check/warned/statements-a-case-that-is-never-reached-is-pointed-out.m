var state: enum {I, S};
startstate begin state := I; end;
rule begin switch state case I: case S, I: state := S; end; end;
--! warning: this case is never reached
--!  --> statements-a-case-that-is-never-reached-is-pointed-out.m:3:41
--!   |
--! 3 | rule begin switch state case I: case S, I: state := S; end; end;
--!   |                                         ^
--! note: the same value
--!  --> statements-a-case-that-is-never-reached-is-pointed-out.m:3:30
--!   |
--! 3 | rule begin switch state case I: case S, I: state := S; end; end;
--!   |                              -
