//! What processors do: one to three rules in which it takes several of them to get somewhere.
//!
//! They take slots, are counted, climb levels where each step needs another processor at the same
//! level, leave elements in a multiset, become the only one in a state, point at each other. How far
//! it goes depends on how many there are, which is where a claim about few is broken by many.

use chance::Rng;

use super::program::{Rule, mentions};

fn rule(name: &str, parameters: &[&str], guard: &[&str], body: &[&str]) -> Rule {
    let texts = |all: &[&str]| all.iter().map(|&each| each.to_owned()).collect::<Vec<_>>();
    Rule {
        name: name.to_owned(),
        parameters: texts(parameters),
        guard: texts(guard),
        locals: Vec::new(),
        body: texts(body),
    }
}

/// One to three rules. `bound` is how many slots and levels there are.
pub(crate) fn random(rng: &mut Rng, bound: u64) -> Vec<Rule> {
    let mut rules = Vec::new();
    for number in 0..1 + usize::from(rng.percent(40)) {
        rules.extend(some(rng, bound, number));
    }
    rules.truncate(4);
    // Now and then a condition is missing, and something becomes too much for its place.
    if rng.percent(12) {
        let at = rng.below(rules.len());
        let guard = &mut rules[at].guard;
        if guard.len() > 1 {
            guard.remove(rng.below(guard.len()));
        }
    }
    for (number, rule) in rules.iter_mut().enumerate() {
        rule.name = format!("r{number}");
    }
    rules
}

fn some(rng: &mut Rng, bound: u64, number: usize) -> Vec<Rule> {
    match rng.below(if number == 0 { 20 } else { 24 }) {
        0..=6 => counting(rng, bound),
        7..=13 => pointing(rng, bound),
        14..=19 => elaborate(rng, bound),
        _ => vec![moving(rng)],
    }
}

/// A parameter of the start state and what is done with it, for a text with these rules.
pub(crate) fn start(rng: &mut Rng, rules: &str) -> Option<(&'static str, &'static str)> {
    let starts = [
        ("y: P", "owner := y;"),
        ("y: P", "st[y] := A;"),
        ("y: P", "set[y] := true;"),
        ("y: P", "done[y] := true;"),
        ("y: P", "l[y] := 1;"),
        ("y: P", "team[y] := true;"),
        ("y: P", "dir.head := y;"),
        ("y: boolean", "flag := y;"),
        ("y: 0..K", "n := y;"),
        ("y: 1..K", "free[y] := false;"),
        ("y: S", "for p: P do st[p] := y; end;"),
        ("y: Q", "for p: P do mine[p] := y; end;"),
    ];
    let fits = |start: &&(&'static str, &'static str)| {
        let variable = start.1.trim_start_matches("for p: P do ");
        let end = variable.find(|each: char| !each.is_alphanumeric()).unwrap_or(0);
        mentions(rules, &variable[..end])
    };
    let fitting: Vec<_> = starts.iter().filter(fits).collect();
    rng.pick(&fitting).map(|start| **start)
}

/// What needs more of the language: arrays in arrays, records of arrays, sets that are passed
/// around, parameters that are changed, early returns, loops, aliases, choices.
fn elaborate(rng: &mut Rng, bound: u64) -> Vec<Rule> {
    let (level, room) = (format!("l[p] < {bound}"), format!("n < {bound}"));
    let share = format!("dir.level < {bound}");
    let fits = format!("multisetcount(e: bag, true) < {bound}");
    match rng.below(14) {
        0 | 1 => vec![rule(
            "link",
            &["p: P", "q: P"],
            &["p != q", "!done[q]", "(forall r: P do !grid[p][r] end)"],
            &["grid[p][q] := true;", "done[q] := true;"],
        )],
        2 | 3 => vec![
            rule(
                "share",
                &["p: P"],
                &["!dir.sharers[p]", &share],
                &["dir.sharers[p] := true;", "dir.level := dir.level + 1;", "dir.head := p;"],
            ),
            rule(
                "leave",
                &["p: P"],
                &["dir.sharers[p]", "dir.level > 0"],
                &["dir.sharers[p] := false;", "dir.level := dir.level - 1;"],
            ),
        ],
        4 => vec![rule("bump", &["p: P", "q: P"], &["p != q", "l[p] = l[q]"], &["bump(l[p]);"])],
        5 => vec![
            rule("join", &["p: P"], &["!team[p]", &room], &["give(team, p);", "n := n + 1;"]),
            rule("over", &[], &["full(team)"], &["spare := team;", "wipe(team);", "flag := true;"]),
        ],
        6 => vec![
            rule("join", &["p: P"], &["!team[p]", "!spare[p]"], &["give(team, p);"]),
            rule("swap", &[], &["flag"], &["spare := team;", "wipe(team);"]),
            rule("on", &["p: P"], &["team[p]"], &["flag := !flag;"]),
        ],
        7 => vec![
            rule(
                "send",
                &["p: P", "v: V"],
                &["!done[p]", &fits],
                &["done[p] := true;", "multisetadd(v, bag);"],
            ),
            rule(
                "receive",
                &["choose i: bag"],
                &["bag[i] = X"],
                &["multisetremove(i, bag);", "flag := true;"],
            ),
        ],
        8 => vec![rule(
            "turn",
            &["p: P"],
            &["!done[p]"],
            &[
                "done[p] := true;",
                "if isundefined(owner) then owner := p; else switch owner case p: flag := true; else owner := p; end; end;",
            ],
        )],
        9 => vec![rule(
            "fill",
            &["p: P"],
            &["!set[p]"],
            &["while n < (K) & !set[p] do n := n + 1; set[p] := true; end;"],
        )],
        10 | 11 => vec![rule(
            "raise",
            &["p: P", "q: P"],
            &["p != q", "l[p] = l[q]", &level],
            &["alias a: l[p] do a := a + 1; end;"],
        )],
        12 => vec![
            rule("a", &["p: P"], &["st[p] = I", "!anyone(A)"], &["st[p] := A;"]),
            rule("b", &["p: P"], &["st[p] = I", "anyone(A)", "!anyone(B)"], &["st[p] := B;"]),
            rule("c", &["p: P"], &["st[p] = I", "anyone(B)", "!anyone(C)"], &["st[p] := C;"]),
        ],
        _ => vec![
            rule(
                "aim",
                &["p: P", "q: P"],
                &["p != q", "!set[p]"],
                &["dest[p] := q;", "set[p] := true;"],
            ),
            rule("say", &["p: P"], &["!set[p]", "flag"], &["dest[p] := Y;"]),
        ],
    }
}

/// Slots, levels and counters.
fn counting(rng: &mut Rng, bound: u64) -> Vec<Rule> {
    let room = format!("n < {bound}");
    let level = format!("l[p] < {bound}");
    match rng.below(12) {
        7 | 8 => vec![rule(
            "climb",
            &["p: P", "q: P"],
            &["p != q", "l[p] = l[q]", &level],
            &["l[p] := l[p] + 1;"],
        )],
        9 | 10 => {
            vec![rule("number", &["p: P"], &["l[p] = 0", &room], &["n := n + 1;", "l[p] := n;"])]
        }
        0 | 1 => vec![rule(
            "take",
            &["p: P", "s: 1..K"],
            &["l[p] = 0", "(forall q: P do l[q] != s end)"],
            &["l[p] := s;"],
        )],
        2 => vec![rule(
            "take",
            &["p: P", "s: 1..K"],
            &["l[p] = 0", "free[s]"],
            &["l[p] := s;", "free[s] := false;"],
        )],
        3 | 4 => vec![rule(
            "leave",
            &["p: P"],
            &["!done[p]", &room],
            &["done[p] := true;", "n := n + 1;"],
        )],
        5 => vec![rule(
            "count",
            &["p: P"],
            &["!done[p]"],
            &["done[p] := true;", "count := count + 1;"],
        )],
        _ => vec![
            rule("enter", &["p: P"], &["!set[p]", &room], &["set[p] := true;", "n := n + 1;"]),
            rule("exit", &["p: P"], &["set[p]", "n > 0"], &["set[p] := false;", "n := n - 1;"]),
        ],
    }
}

/// States that only one has, references, and the other scalarset.
fn pointing(rng: &mut Rng, bound: u64) -> Vec<Rule> {
    let room = format!("multisetcount(e: bag, true) < {bound}");
    match rng.below(12) {
        0 => vec![rule(
            "be",
            &["p: P", "e: S"],
            &["st[p] = I", "(forall q: P do st[q] != e end)"],
            &["st[p] := e;"],
        )],
        1 => vec![
            rule("a", &["p: P"], &["st[p] = I"], &["st[p] := A;"]),
            rule("b", &["p: P"], &["st[p] = A"], &["st[p] := B;"]),
            rule("c", &["p: P"], &["st[p] = I"], &["st[p] := C;"]),
        ],
        2 => vec![rule("point", &["p: P", "q: P"], &["p != q"], &["ref[p] := q;"])],
        3 => vec![rule(
            "point",
            &["p: P", "q: P"],
            &["p != q", "!done[q]", "!set[p]"],
            &["ref[p] := q;", "done[q] := true;", "set[p] := true;"],
        )],
        4 | 5 => vec![rule(
            "hold",
            &["p: P", "s: 1..K"],
            &["isundefined(holder[s])", "!done[p]"],
            &["holder[s] := p;", "done[p] := true;"],
        )],
        6 => vec![
            rule("own", &["p: P"], &["!done[p]"], &["owner := p;", "done[p] := true;"]),
            rule("pass", &["p: P"], &["!isundefined(owner)", "owner != p"], &["second := p;"]),
        ],
        7 => vec![rule(
            "pick",
            &["p: P", "m: Q"],
            &["isundefined(mine[p])", "(forall q: P do isundefined(mine[q]) | mine[q] != m end)"],
            &["mine[p] := m;"],
        )],
        8 => vec![rule(
            "send",
            &["p: P", "v: V"],
            &["!done[p]", &room],
            &["done[p] := true;", "multisetadd(v, bag);"],
        )],
        9 => vec![
            rule("choose", &["p: P", "m: Q"], &["!set[p]"], &["w[p] := m;", "set[p] := true;"]),
            rule("drop", &["p: P"], &["set[p]"], &["w[p] := Y;"]),
        ],
        10 => vec![rule(
            "tell",
            &["p: P", "q: P"],
            &["p != q", "rec[p].v < 2", "rec[q].v = rec[p].v"],
            &["rec[p].v := rec[p].v + 1;", "rec[p].who := q;"],
        )],
        _ => vec![rule(
            "say",
            &["p: P", "v: V"],
            &["isundefined(val[p])", "(forall q: P do isundefined(val[q]) | q = p end) | flag"],
            &["val[p] := v;", "flag := true;"],
        )],
    }
}

/// Something more that is done now and then.
fn moving(rng: &mut Rng) -> Rule {
    match rng.below(10) {
        0 => rule("flag", &["p: P"], &["st[p] = I"], &["flag := true;", "st[p] := A;"]),
        1 => rule("back", &["p: P"], &["st[p] = B", "flag"], &["st[p] := I;", "flag := false;"]),
        2 => rule("own", &["p: P"], &["isundefined(owner)"], &["owner := p;"]),
        3 => rule(
            "next",
            &["p: P"],
            &["!set[p]"],
            &["second := owner;", "owner := p;", "set[p] := true;"],
        ),
        4 => rule("undo", &["p: P"], &["done[p]", "flag"], &["undefine ref[p];"]),
        5 => rule("on", &["p: P"], &["!flag"], &["flag := true;", "set[p] := true;"]),
        6 => {
            rule("reset", &[], &["flag"], &["for q: P do set[q] := false; end;", "flag := false;"])
        }
        7 => rule("copy", &[], &[], &["for q: P do set[q] := done[q]; end;"]),
        8 => rule(
            "drop",
            &["p: P"],
            &["!isundefined(owner)", "owner = p"],
            &["undefine owner;", "for q: P do if st[q] = A then st[q] := B; end; end;"],
        ),
        _ => rule("all", &[], &["(forall q: P do set[q] end)"], &["flag := true;"]),
    }
}
