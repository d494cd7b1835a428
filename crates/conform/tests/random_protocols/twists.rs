//! What is done to a protocol so that it may be wrong, or use its values or commits in ways that a
//! verification must notice: statements dropped, doubled and swapped, guards weakened, decisions by
//! data, values that are stored twice or copied, commits in wrong places.

use chance::Rng;

use crate::protocol::{Protocol, Rule, Statement, plain};

/// A way to change a protocol. Says whether it applies.
type Twist = fn(&mut Rng, &mut Protocol) -> bool;

/// Changes a protocol in up to three ways.
pub(crate) fn twist(rng: &mut Rng, protocol: &mut Protocol) {
    let twists: [(&'static str, Twist); 15] = [
        ("statement dropped", drop_statement),
        ("statement dropped", drop_statement),
        ("statements swapped", swap_statements),
        ("statement doubled", double_statement),
        ("guard weakened", weaken_guard),
        ("guard weakened", weaken_guard),
        ("decision by data", decide_by_data),
        ("decision by data", choose_by_data),
        ("one value stored twice", store_twice),
        ("value copied", copy_value),
        ("old value loaded", load_old),
        ("commit misplaced", misplace_commit),
        ("commit changed", change_commit),
        ("store lost", lose_store),
        ("constant loaded", load_constant),
    ];
    let count = [0, 1, 1, 1, 2, 3][rng.below(6)];
    for _ in 0..count {
        let (name, twist) = twists[rng.below(twists.len())];
        if twist(rng, protocol) {
            protocol.twists.push(name);
        }
    }
}

/// Calls `edit` with the list and position of the statement with a number, in the order of the text.
fn at_statement(
    body: &mut Vec<Statement>,
    number: &mut usize,
    edit: &mut dyn FnMut(&mut Vec<Statement>, usize),
) -> bool {
    for at in 0..body.len() {
        if *number == 0 {
            edit(body, at);
            return true;
        }
        *number -= 1;
        if let Statement::If(_, inner) | Statement::For(_, inner) = &mut body[at]
            && at_statement(inner, number, edit)
        {
            return true;
        }
    }
    false
}

/// Edits a random statement.
fn at_random(
    rng: &mut Rng,
    protocol: &mut Protocol,
    edit: &mut dyn FnMut(&mut Vec<Statement>, usize),
) -> bool {
    let rule = rng.below(protocol.rules.len());
    let mut number = rng.below(8);
    at_statement(&mut protocol.rules[rule].body, &mut number, edit)
}

fn drop_statement(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    at_random(rng, protocol, &mut |body, at| drop(body.remove(at)))
}

fn swap_statements(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    at_random(rng, protocol, &mut |body, at| {
        let other = (at + 1) % body.len();
        body.swap(at, other);
    })
}

fn double_statement(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    at_random(rng, protocol, &mut |body, at| body.insert(at, body[at].clone()))
}

fn weaken_guard(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    let at = rng.below(protocol.rules.len());
    let rule = &mut protocol.rules[at];
    match rule.guard.len() {
        0 => false,
        parts => {
            rule.guard.remove(rng.below(parts));
            true
        }
    }
}

/// The rules that store a value of their own.
fn storing<'a>(rng: &mut Rng, protocol: &'a mut Protocol) -> Option<&'a mut Rule> {
    let is_store = |rule: &&mut Rule| {
        rule.parameters.contains(&"v: Value") && rule.text().contains("Store(p, a, v)")
    };
    let mut rules: Vec<&mut Rule> = protocol.rules.iter_mut().filter(is_store).collect();
    match rules.len() {
        0 => None,
        count => Some(rules.swap_remove(rng.below(count))),
    }
}

/// A statement that happens only for some values.
fn decide_by_data(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    let conditions = ["v != memory[a]", "v = memory[a]"];
    let condition = conditions[rng.below(2)].to_owned();
    let number = rng.below(5);
    let Some(rule) = storing(rng, protocol) else { return false };
    let mut number = number;
    at_statement(&mut rule.body, &mut number, &mut |body, at| {
        body[at] = Statement::If(condition.clone(), vec![body[at].clone()]);
    })
}

/// A rule that applies for some values only.
fn choose_by_data(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    let literal = protocol.literal(rng.below(protocol.value_count));
    let scalarset = protocol.values == crate::protocol::Values::Scalarset;
    let some = rng.percent(50);
    let guards =
        ["v != memory[a]".to_owned(), format!("v = {literal}"), "v = memory[a]".to_owned()];
    let at = if scalarset { 2 * rng.below(2) } else { rng.below(3) };
    let Some(rule) = storing(rng, protocol) else { return false };
    if some {
        let condition = guards[at].clone();
        rule.body.insert(0, Statement::If(condition, vec![plain("memory[a] := v")]));
    } else {
        rule.guard.push(guards[at].clone());
    }
    true
}

fn store_twice(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    if protocol.addresses < 2 {
        return false;
    }
    let writes = rng.percent(70);
    let Some(rule) = storing(rng, protocol) else { return false };
    if rule.parameters.contains(&"b: Addr") {
        return false;
    }
    rule.parameters.push("b: Addr");
    rule.guard.push("a != b".to_owned());
    if writes {
        rule.body.push(plain("memory[b] := v"));
    }
    rule.body.push(plain("Store(p, b, v)"));
    true
}

fn copy_value(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    if protocol.addresses < 2 {
        return false;
    }
    let orders =
        [["memory[b] := memory[a]", "Store(p, b, memory[a])"], ["Store(p, b, memory[a])", ""]];
    let body = orders[rng.below(2)].iter().filter(|text| !text.is_empty());
    protocol.rules.push(Rule {
        name: "copy",
        parameters: vec!["p: Proc", "a: Addr", "b: Addr"],
        guard: vec!["a != b".to_owned()],
        body: body.map(|text| plain(text)).collect(),
    });
    true
}

fn load_old(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    if protocol.mentions("old[") {
        return false;
    }
    let Some(rule) = storing(rng, protocol) else { return false };
    rule.body.insert(0, plain("old[a] := memory[a]"));
    protocol.variables.push("old: array [Addr] of Value".to_owned());
    protocol.prepare.push("undefine old;".to_owned());
    let mut guard = vec!["!isundefined(old[a])".to_owned()];
    if rng.percent(30) {
        guard.push("old[a] = memory[a]".to_owned());
        protocol.twists.push("decision by data");
    }
    protocol.rules.push(Rule {
        name: "load old",
        parameters: vec!["p: Proc", "a: Addr"],
        guard,
        body: vec![plain("Load(p, a, old[a])")],
    });
    true
}

/// Takes the commits out and puts one at every store, before or after it.
fn misplace_commit(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    if !protocol.commits {
        return false;
    }
    for rule in &mut protocol.rules {
        without(&mut rule.body, "Commit(");
    }
    let before = rng.percent(30);
    let Some(rule) = storing(rng, protocol) else { return false };
    match before {
        true => rule.body.insert(0, plain("Commit(p, a, v)")),
        false => rule.body.push(plain("Commit(p, a, v)")),
    }
    true
}

fn without(body: &mut Vec<Statement>, begin: &str) {
    body.retain(
        |statement| !matches!(statement, Statement::Plain(text) if text.starts_with(begin)),
    );
    for statement in body {
        if let Statement::If(_, inner) | Statement::For(_, inner) = statement {
            without(inner, begin);
        }
    }
}

/// Another processor commits, or another value is committed, or nothing is.
fn change_commit(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    let kind = rng.below(3);
    let mut found = false;
    for rule in &mut protocol.rules {
        if kind == 2 {
            let before = rule.body.clone();
            without(&mut rule.body, "Commit(");
            found |= before != rule.body;
            continue;
        }
        let mut number = 0;
        while change_one(&mut rule.body, number, kind, &mut found) {
            number += 1;
        }
        if found && kind == 0 && !rule.parameters.contains(&"q: Proc") {
            rule.parameters.push("q: Proc");
        }
        if found {
            break;
        }
    }
    found
}

/// Changes the statement with a number if it is a commit. Returns whether there is one.
fn change_one(body: &mut Vec<Statement>, number: usize, kind: usize, found: &mut bool) -> bool {
    let mut number = number;
    at_statement(body, &mut number, &mut |body, at| {
        if let Statement::Plain(text) = &mut body[at]
            && text.starts_with("Commit(p, ")
            && !*found
        {
            *found = true;
            let address = text.split(", ").nth(1).unwrap_or("a").to_owned();
            *text = match kind {
                0 => text.replacen("Commit(p, ", "Commit(q, ", 1),
                _ => format!("Commit(p, {address}, memory[{address}])"),
            };
        }
    })
}

/// A store may leave its buffer for nowhere.
fn lose_store(_: &mut Rng, protocol: &mut Protocol) -> bool {
    if protocol.shape != "buffered" || protocol.mentions("\"lose\"") {
        return false;
    }
    protocol.rules.push(Rule {
        name: "lose",
        parameters: vec!["p: Proc"],
        guard: vec!["count[p] > 0".to_owned()],
        body: [
            "count[p] := count[p] - 1",
            "undefine target[p][count[p]]",
            "undefine data[p][count[p]]",
        ]
        .iter()
        .map(|text| plain(text))
        .collect(),
    });
    true
}

/// A value that comes from the text.
fn load_constant(rng: &mut Rng, protocol: &mut Protocol) -> bool {
    if protocol.values == crate::protocol::Values::Scalarset {
        return false;
    }
    let value = protocol.literal(rng.below(protocol.value_count));
    protocol.rules.push(Rule {
        name: "load constant",
        parameters: vec!["p: Proc", "a: Addr"],
        guard: vec![format!("memory[a] = {value}")],
        body: vec![plain(&format!("Load(p, a, {value})"))],
    });
    true
}
