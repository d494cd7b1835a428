type State: enum {Invalid, Shared};
var state: State;
startstate begin state := Invlaid; end;
rule state = Invalid ==> begin end;
--! error: `Invlaid` is not declared
--!  --> names-an-undeclared-name-is-refused-with-the-closest-one.m:3:27
--!   |
--! 3 | startstate begin state := Invlaid; end;
--!   |                           ^^^^^^^
--!   = help: did you mean `Invalid`?
