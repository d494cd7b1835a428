startstate begin end;
ruleset i: 0..99999; j: 0..99999 do rule "move" begin end; end;
--! error: `move` has more than 4294967296 instances
--!  --> rules-too-many-instances-are-refused.m:2:9
--!   |
--! 2 | ruleset i: 0..99999; j: 0..99999 do rule "move" begin end; end;
--!   |         ^^^^^^^^^^^
--!   = help: an instance is a choice of values for the parameters of the rulesets around it
