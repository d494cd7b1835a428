type Message: record kind: boolean; value: 0..1; end;
var message: Message;
startstate begin message.vlaue := 1; end;
rule begin end;
--! error: `Message` has no field `vlaue`
--!  --> expressions-a-field-must-exist.m:3:26
--!   |
--! 3 | startstate begin message.vlaue := 1; end;
--!   |                          ^^^^^
--!   = help: did you mean `value`?
