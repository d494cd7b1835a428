-- What other caches never do, for german.m.

invariant "lemma for store"
  forall n: Node; v: Value do exclusive_granted end;

invariant "lemma for store"
  forall n: Node; v: Value; m: Node do
    cache[m].state = Invalid & channel2[m].kind != GrantShared &
    channel2[m].kind != GrantExclusive & channel3[m].kind = None
  end;

invariant "lemma for home collects an acknowledgement"
  forall n: Node do
    exclusive_granted -> !isundefined(channel3[n].data) & channel3[n].data = latest
  end;

invariant "lemma for home collects an acknowledgement"
  forall n: Node; m: Node do
    exclusive_granted ->
      cache[m].state = Invalid & channel2[m].kind != GrantShared &
      channel2[m].kind != GrantExclusive & channel3[m].kind = None
  end;
