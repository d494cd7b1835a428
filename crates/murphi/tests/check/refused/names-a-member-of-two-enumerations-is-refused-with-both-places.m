type Cache: enum {Invalid, Shared};
     Home: enum {Idle, Shared};
startstate begin end;
rule begin end;
--! error: `Shared` is declared twice
--!  --> names-a-member-of-two-enumerations-is-refused-with-both-places.m:2:24
--!   |
--! 2 |      Home: enum {Idle, Shared};
--!   |                        ^^^^^^
--! note: first declared here
--!  --> names-a-member-of-two-enumerations-is-refused-with-both-places.m:1:28
--!   |
--! 1 | type Cache: enum {Invalid, Shared};
--!   |                            ------
