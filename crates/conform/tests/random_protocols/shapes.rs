//! The protocols that random ones are made from: memories, caches, buffers, queues and directories,
//! each in several variants, most of them right.

use chance::Rng;

use crate::protocol::{Protocol, Rule, Start, Statement, Values, plain};

/// A rule's parameters.
const PA: [&str; 2] = ["p: Proc", "a: Addr"];
const PAV: [&str; 3] = ["p: Proc", "a: Addr", "v: Value"];

/// What shapes are called.
pub(crate) const NAMES: [&str; 6] =
    ["atomic", "invalidating", "buffered", "updating", "queued invalidations", "directory"];

/// A random protocol before anything is done to it.
pub(crate) fn shape(rng: &mut Rng) -> Protocol {
    let mut protocol = frame(rng);
    let shapes: [fn(&mut Rng, &mut Protocol); 8] = [
        atomic,
        invalidating,
        buffered,
        buffered,
        buffered,
        updating,
        queued_invalidations,
        directory,
    ];
    shapes[rng.below(shapes.len())](rng, &mut protocol);
    for at in 0..protocol.rules.len() {
        if rng.percent(25) {
            name_loaded(&mut protocol.rules[at]);
        }
    }
    if protocol.value_count == 1 || (protocol.values == Values::Scalarset && fixed(protocol.start))
    {
        protocol.start = Start::Any;
    }
    protocol
}

fn fixed(start: Start) -> bool {
    matches!(start, Start::Lowest | Start::Highest)
}

/// Sizes and types.
fn frame(rng: &mut Rng) -> Protocol {
    let (processors, addresses) = match rng.below(12) {
        0..=7 => (2, 2),
        8 | 9 => (2, 1),
        10 => (3, 1),
        _ => (2, 3),
    };
    let values = [Values::Range, Values::Range, Values::Enumeration, Values::Scalarset];
    let starts = [Start::Lowest, Start::Lowest, Start::Lowest, Start::Any, Start::Any];
    let rare = [Start::Highest, Start::Unequal, Start::EachAddress];
    Protocol {
        shape: "",
        processors,
        addresses,
        symmetric: rng.percent(75),
        values: values[rng.below(values.len())],
        value_count: [2, 2, 2, 3, 1][rng.below(5)],
        start: if rng.percent(15) { rare[rng.below(3)] } else { starts[rng.below(5)] },
        variables: Vec::new(),
        prepare: Vec::new(),
        rules: Vec::new(),
        commits: false,
        twists: Vec::new(),
    }
}

fn rule<const N: usize>(
    name: &'static str,
    parameters: [&'static str; N],
    guard: &[&str],
    body: Vec<Statement>,
) -> Rule {
    let guard = guard.iter().map(|part| (*part).to_owned()).collect();
    Rule { name, parameters: parameters.to_vec(), guard, body }
}

fn plains(texts: &[&str]) -> Vec<Statement> {
    texts.iter().map(|text| plain(text)).collect()
}

/// A load that takes its value from a place names it in its guard instead.
fn name_loaded(rule: &mut Rule) {
    let [Statement::Plain(text)] = &rule.body[..] else { return };
    let Some(place) = text.strip_prefix("Load(p, a, ").and_then(|rest| rest.strip_suffix(')'))
    else {
        return;
    };
    if rule.parameters.contains(&"v: Value") || place.contains('?') {
        return;
    }
    rule.guard.push(format!("{place} = v"));
    rule.parameters.push("v: Value");
    rule.body = plains(&["Load(p, a, v)"]);
}

/// Everything takes effect at once.
fn atomic(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "atomic";
    protocol.commits = rng.percent(20);
    let mut store = plains(&["memory[a] := v", "Store(p, a, v)"]);
    if protocol.commits {
        store.push(plain("Commit(p, a, v)"));
    }
    protocol.rules = vec![
        rule("load", PA, &[], plains(&["Load(p, a, memory[a])"])),
        rule("store", PAV, &[], store),
    ];
}

/// Caches; a store writes through and drops the copies of the others.
fn invalidating(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "invalidating";
    protocol.variables.push("cache: array [Proc] of array [Addr] of Value".to_owned());
    let filled = rng.percent(40);
    protocol.prepare.push(match filled {
        true => "for p: Proc do for a: Addr do cache[p][a] := $first; end; end;".to_owned(),
        false => "undefine cache;".to_owned(),
    });
    let invalidate = Statement::If("q != p".to_owned(), plains(&["undefine cache[q][a]"]));
    let mut store = plains(&["memory[a] := v", "cache[p][a] := v"]);
    store.push(Statement::For("q: Proc".to_owned(), vec![invalidate]));
    store.push(plain("Store(p, a, v)"));
    protocol.rules = vec![
        rule("load", PA, &["!isundefined(cache[p][a])"], plains(&["Load(p, a, cache[p][a])"])),
        rule("fill", PA, &["isundefined(cache[p][a])"], plains(&["cache[p][a] := memory[a]"])),
        rule("store", PAV, &[], store),
    ];
    if rng.percent(50) {
        protocol.rules.push(rule("evict", PA, &[], plains(&["undefine cache[p][a]"])));
    }
}

/// Store buffers of one or two places.
fn buffered(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "buffered";
    protocol.commits = rng.percent(70);
    let depth = 1 + rng.below(2);
    let last = depth - 1;
    protocol.variables.push(format!("count: array [Proc] of 0..{depth}"));
    protocol.variables.push(format!("target: array [Proc] of array [0..{last}] of Addr"));
    protocol.variables.push(format!("data: array [Proc] of array [0..{last}] of Value"));
    protocol
        .prepare
        .push("for p: Proc do count[p] := 0; end; undefine target; undefine data;".to_owned());
    protocol.rules = buffer_loads(rng, last);
    protocol.rules.push(buffer_store(rng, protocol.commits, depth));
    if rng.percent(75) {
        protocol.rules.push(buffer_drain(rng, protocol.commits, last));
    }
}

/// What happens when the entry `at` leaves the buffer.
fn leave(commits: bool, at: &str, last: usize) -> Vec<Statement> {
    let mut body = vec![plain(&format!("memory[target[p][{at}]] := data[p][{at}]"))];
    if commits {
        body.push(plain(&format!("Commit(p, target[p][{at}], data[p][{at}])")));
    }
    if last == 1 {
        let shift = plains(&["target[p][0] := target[p][1]", "data[p][0] := data[p][1]"]);
        let shifts = if at == "0" { "count[p] = 2" } else { "i = 0 & count[p] = 2" };
        body.push(Statement::If(shifts.to_owned(), shift));
    }
    body.push(plain("count[p] := count[p] - 1"));
    body.push(plain("undefine target[p][count[p]]"));
    body.push(plain("undefine data[p][count[p]]"));
    body
}

fn buffer_drain(rng: &mut Rng, commits: bool, last: usize) -> Rule {
    match (last, rng.percent(25)) {
        (1, true) => {
            let body = leave(commits, "i", last);
            rule("drain any", ["p: Proc", "i: 0..1"], &["i < count[p]"], body)
        }
        _ => rule("drain", ["p: Proc"], &["count[p] > 0"], leave(commits, "0", last)),
    }
}

fn buffer_store(rng: &mut Rng, commits: bool, depth: usize) -> Rule {
    let enter = [
        "target[p][count[p]] := a",
        "data[p][count[p]] := v",
        "count[p] := count[p] + 1",
        "Store(p, a, v)",
    ];
    let full = format!("count[p] < {depth}");
    match rng.below(4) {
        // The next store makes room.
        0 => {
            let mut body =
                vec![Statement::If(format!("count[p] = {depth}"), leave(commits, "0", depth - 1))];
            body.extend(plains(&enter));
            rule("store", PAV, &[], body)
        }
        // Stores to one address are merged.
        1 => {
            let same = "count[p] > 0 & target[p][count[p] - 1] = a";
            let mut body = vec![
                Statement::If(same.to_owned(), plains(&["data[p][count[p] - 1] := v"])),
                Statement::If(format!("!({same}) & {full}"), plains(&enter[..3])),
                plain("Store(p, a, v)"),
            ];
            if commits && rng.percent(50) {
                let merged = plains(&["Commit(p, a, data[p][count[p] - 1])"]);
                body.insert(0, Statement::If(same.to_owned(), merged));
            }
            rule("store", PAV, &[&format!("({full} | {same})")], body)
        }
        _ => rule("store", PAV, &[&full], plains(&enter)),
    }
}

fn buffer_loads(rng: &mut Rng, last: usize) -> Vec<Rule> {
    let memory = plains(&["Load(p, a, memory[a])"]);
    let pending = |at: usize| format!("count[p] > {at} & target[p][{at}] = a");
    match rng.below(6) {
        0 | 1 => vec![rule("load", PA, &["count[p] = 0"], memory)],
        2 => vec![rule("load", PA, &[], memory)],
        3 => {
            let waits: Vec<String> = (0..=last).map(|at| format!("!({})", pending(at))).collect();
            let waits: Vec<&str> = waits.iter().map(|wait| &**wait).collect();
            vec![rule("load", PA, &waits, memory)]
        }
        // Of the own stores, the newest is seen.
        4 => {
            let newest = match last {
                0 => format!("{} ? data[p][0] : memory[a]", pending(0)),
                _ => format!(
                    "{} ? data[p][1] : ({} ? data[p][0] : memory[a])",
                    pending(1),
                    pending(0)
                ),
            };
            vec![rule("load", PA, &[], plains(&[&format!("Load(p, a, {newest})")]))]
        }
        // Everybody sees what waits.
        _ => vec![
            rule("load", PA, &["count[p] = 0"], memory),
            rule(
                "peek",
                ["p: Proc", "a: Addr", "q: Proc"],
                &["count[q] > 0", "target[q][0] = a"],
                plains(&["Load(p, a, data[q][0])"]),
            ),
        ],
    }
}

/// Copies everywhere; a store is sent to the others, who take it later.
fn updating(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "updating";
    protocol.commits = rng.percent(30);
    queue(protocol, true);
    protocol.variables.push("cache: array [Proc] of array [Addr] of Value".to_owned());
    let fill = "for p: Proc do for a: Addr do cache[p][a] := $first; end; end;";
    protocol.prepare.push(fill.to_owned());
    let send =
        plains(&["target[q][count[q]] := a", "data[q][count[q]] := v", "count[q] := count[q] + 1"]);
    let others = Statement::If("q != p".to_owned(), send);
    let mut store = plains(&["memory[a] := v", "cache[p][a] := v"]);
    store.push(Statement::For("q: Proc".to_owned(), vec![others]));
    store.push(plain("Store(p, a, v)"));
    if protocol.commits {
        store.push(plain("Commit(p, a, v)"));
    }
    let mut guard = vec!["forall q: Proc do count[q] < 2 end"];
    if rng.percent(40) {
        guard.push("count[p] = 0");
    }
    let load: &[&str] = if rng.percent(50) { &["count[p] = 0"] } else { &[] };
    protocol.rules = vec![
        rule("load", PA, load, plains(&["Load(p, a, cache[p][a])"])),
        rule("store", PAV, &guard, store),
        rule(
            "update",
            ["p: Proc"],
            &["count[p] > 0"],
            take("cache[p][target[p][0]] := data[p][0]", true),
        ),
    ];
}

/// A queue of two places for each processor.
fn queue(protocol: &mut Protocol, carries_data: bool) {
    protocol.variables.push("count: array [Proc] of 0..2".to_owned());
    protocol.variables.push("target: array [Proc] of array [0..1] of Addr".to_owned());
    protocol.prepare.push("for p: Proc do count[p] := 0; end; undefine target;".to_owned());
    if carries_data {
        protocol.variables.push("data: array [Proc] of array [0..1] of Value".to_owned());
        protocol.prepare.push("undefine data;".to_owned());
    }
}

/// Takes the first message.
fn take(first: &str, carries_data: bool) -> Vec<Statement> {
    let mut shift = plains(&["target[p][0] := target[p][1]"]);
    let mut forget = plains(&["count[p] := count[p] - 1", "undefine target[p][count[p]]"]);
    if carries_data {
        shift.push(plain("data[p][0] := data[p][1]"));
        forget.push(plain("undefine data[p][count[p]]"));
    }
    let mut body = vec![plain(first), Statement::If("count[p] = 2".to_owned(), shift)];
    body.append(&mut forget);
    body
}

/// Caches whose copies are dropped later than the store.
fn queued_invalidations(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "queued invalidations";
    invalidating(rng, protocol);
    protocol.shape = "queued invalidations";
    queue(protocol, false);
    let send = plains(&["target[q][count[q]] := a", "count[q] := count[q] + 1"]);
    let others = Statement::If("q != p".to_owned(), send);
    let store = protocol.rules.iter_mut().find(|rule| rule.name == "store").expect("it stores");
    store.body[2] = Statement::For("q: Proc".to_owned(), vec![others]);
    store.guard.push("forall q: Proc do count[q] < 2 end".to_owned());
    if rng.percent(50) {
        store.guard.push("count[p] = 0".to_owned());
    }
    for rule in &mut protocol.rules {
        if matches!(rule.name, "load" | "fill") && rng.percent(40) {
            rule.guard.push("count[p] = 0".to_owned());
        }
    }
    protocol.rules.push(rule(
        "invalidate",
        ["p: Proc"],
        &["count[p] > 0"],
        take("undefine cache[p][target[p][0]]", false),
    ));
}

/// One owner of an address, or many readers.
fn directory(rng: &mut Rng, protocol: &mut Protocol) {
    protocol.shape = "directory";
    protocol.variables.push("cache: array [Proc] of array [Addr] of Value".to_owned());
    protocol.variables.push("owner: array [Addr] of Proc".to_owned());
    protocol.prepare.push("undefine cache; undefine owner;".to_owned());
    let owned = "!isundefined(owner[a])".to_owned();
    let write_back = plains(&["memory[a] := cache[owner[a]][a]", "undefine owner[a]"]);
    let share =
        vec![Statement::If(owned.clone(), write_back.clone()), plain("cache[p][a] := memory[a]")];
    let mut own = vec![Statement::If(owned, write_back)];
    own.extend(plains(&["cache[p][a] := memory[a]", "owner[a] := p"]));
    let drop_others = Statement::If("q != p".to_owned(), plains(&["undefine cache[q][a]"]));
    own.push(Statement::For("q: Proc".to_owned(), vec![drop_others]));
    protocol.commits = rng.percent(20);
    let mut store = plains(&["cache[p][a] := v", "Store(p, a, v)"]);
    if protocol.commits {
        store.push(plain("Commit(p, a, v)"));
    }
    protocol.rules = vec![
        rule("load", PA, &["!isundefined(cache[p][a])"], plains(&["Load(p, a, cache[p][a])"])),
        rule("share", PA, &["isundefined(cache[p][a])"], share),
        rule("own", PA, &["isundefined(owner[a])"], own),
        rule("store", PAV, &["!isundefined(owner[a])", "owner[a] = p"], store),
    ];
}
