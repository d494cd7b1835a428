var small: 0..3; big: -10..10;
startstate begin small := 0; big := small; small := big; end;
rule small < big & big = small -> small + 1 >= big - 1 ==> begin small := (small + 1) % 4; end;
