//! Programs that share native functions do what they would do alone, wherever a rule or a property
//! stands in them.

use crate::differential::explore;
use crate::support::Both;
use tribunal_native::CodeCache;

/// Rules and properties of one model, to be left out and put in another order.
const RULES: [&str; 5] = [
    "ruleset p: P do rule \"up\" n[p] < 3 ==> begin n[p] := n[p] + 1; end; end;",
    "ruleset p: P do rule \"fails\" n[p] = 3 & sum > 2 ==> begin n[p] := n[p] + 1; end; end;",
    "ruleset p: P; q: P do rule \"swap\" p != q & n[p] > n[q] ==> var k: 0..3; begin
       k := n[p]; n[p] := n[q]; n[q] := k; end; end;",
    "ruleset p: P do rule \"clear\" !isundefined(who) ==> begin clear kept; n[p] := 0; end; end;",
    "ruleset p: P do rule \"keep\" n[p] = 2 & multisetcount(m: kept, true) < 2 ==> begin
       multisetadd(n[p], kept); who := p; sum := 3; end; end;",
];
const PROPERTIES: [&str; 4] = [
    "invariant \"small\" forall p: P do n[p] < 3 end;",
    "invariant \"never\" isundefined(who) | n[who] != 1;",
    "cover \"two\" multisetcount(m: kept, true) = 2;",
    "assume \"few\" multisetcount(m: kept, kept[m] = 2) < 2;",
];

fn model(rules: &[usize], properties: &[usize]) -> String {
    let mut text = "type P: scalarset(2);
        var n: array [P] of 0..3; who: P; sum: 0..4; kept: multiset [2] of 0..3;
        startstate begin for p: P do n[p] := 0; end; sum := 0; undefine kept; clear kept; end;"
        .to_owned();
    for part in rules.iter().map(|&at| RULES[at]).chain(properties.iter().map(|&at| PROPERTIES[at]))
    {
        text += part;
    }
    text
}

#[test]
fn rules_and_properties_may_move_and_go() {
    let cache = CodeCache::default();
    let variants: [(&[usize], &[usize]); 6] = [
        (&[0, 1, 2, 3, 4], &[0, 1, 2, 3]),
        (&[4, 3, 2, 1, 0], &[3, 2, 1, 0]),
        (&[0, 2, 4], &[1, 2]),
        (&[1, 0], &[0]),
        (&[3, 4, 0], &[2, 3, 1]),
        (&[0, 1, 2, 3, 4], &[2]),
    ];
    for (rules, properties) in variants {
        let states = explore(&mut Both::sharing(&model(rules, properties), &cache), 2_000);
        assert!(states > 5, "{rules:?} have {states} states");
    }
}

#[test]
fn what_was_compiled_is_not_compiled_again() {
    let cache = CodeCache::default();
    let all = model(&[0, 1, 2, 3, 4], &[0, 1]);
    drop(Both::sharing(&all, &cache));
    let functions = cache.functions();
    assert!(functions > 7, "{functions} functions");
    drop(Both::sharing(&all, &cache));
    assert_eq!(cache.functions(), functions);
    // Without a property, only the group that it was in is another.
    drop(Both::sharing(&model(&[0, 1, 2, 3, 4], &[1]), &cache));
    assert!(cache.functions() <= functions + 1, "{} functions", cache.functions());
    // Without a rule, the bodies of the others are known.
    drop(Both::sharing(&model(&[0, 2, 3, 4], &[0, 1]), &cache));
    assert!(cache.functions() <= functions + 3, "{} functions", cache.functions());
}
