//! Message-sequence charts of counterexamples: each arrow is compared with what the rules did, by a
//! reading of the protocol that shares no code with the one that draws, and the page is driven in a
//! real browser.

use std::collections::BTreeMap;
use std::path::Path;

use browser::Browser;
use serde_json::Value;

use crate::common::{directory, run};

/// The data of a page.
fn data(page: &Path) -> Value {
    let text = std::fs::read_to_string(page).unwrap();
    let start = text.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = start + text[start..].find("</script>").unwrap();
    serde_json::from_str(&text[start..end]).unwrap()
}

/// A message as both readings have it: what it says, its slot, the step that sends it and who does,
/// the step that takes it and who does.
type Message = (String, String, usize, String, Option<(usize, String)>);

/// The arrows of a page.
fn arrows(data: &Value) -> Vec<Message> {
    let run = &data["run"];
    let lane =
        |at: &Value| run["lanes"][at.as_u64().unwrap() as usize].as_str().unwrap().to_owned();
    let arrow = |arrow: &Value| {
        let taken = arrow["taken"].as_u64().map(|step| (step as usize, lane(&arrow["to"])));
        let text = |name: &str| arrow[name].as_str().unwrap().to_owned();
        let sent = arrow["sent"].as_u64().unwrap() as usize;
        (text("label"), text("slot"), sent, lane(&arrow["from"]), taken)
    };
    let mut arrows: Vec<Message> = run["arrows"].as_array().unwrap().iter().map(arrow).collect();
    arrows.sort();
    arrows
}

/// What a protocol says about itself in its comments: the variables that are slots, each with the
/// field that says what is in it and the value that says nothing is, and who acts in a rule.
struct Protocol {
    /// Variable, field and empty value.
    slots: &'static [(&'static str, &'static str, &'static str)],
    /// Rules of the home begin so; in others a processor acts.
    home: (&'static str, &'static str),
    /// The parameter that is the processor: for rules that begin so.
    actors: &'static [(&'static str, &'static str)],
}

const FLASH: Protocol = Protocol {
    slots: &[
        ("home_transaction", ".kind", "NoTransaction"),
        ("transaction", ".kind", "NoTransaction"),
        ("invalidation", "", "NoInvalidation"),
        ("replacement", "", "false"),
        ("write_back", ".present", "false"),
        ("report", ".kind", "NoReport"),
    ],
    home: ("home ", "home"),
    actors: &[("owner ", "q"), ("remote ", "r")],
};

const TSO_CC: Protocol = Protocol {
    slots: &[
        ("request", "", "NoRequest"),
        ("write_back", ".kind", "NoWriteBack"),
        ("confirmation", "", "NoConfirmation"),
        ("ack_ro", "", "false"),
        ("inv_ro", "", "false"),
        ("forward", ".kind", "NoForward"),
        ("ack", "", "false"),
        ("response", ".kind", "NoResponse"),
    ],
    home: ("directory ", "directory"),
    actors: &[("", "p")],
};

impl Protocol {
    /// Who acts in a step.
    fn actor(&self, step: &Value) -> String {
        let rule = step["rule"].as_str().unwrap();
        if rule.starts_with(self.home.0) {
            return self.home.1.to_owned();
        }
        let (_, parameter) = self.actors.iter().find(|(start, _)| rule.starts_with(start)).unwrap();
        step["bindings"][parameter].as_str().unwrap().to_owned()
    }

    /// What is in each slot of a state that is not empty: all its fields, and what it is called.
    fn full(&self, state: &BTreeMap<String, String>) -> BTreeMap<String, (String, String)> {
        let mut full = BTreeMap::new();
        for (place, value) in state {
            let name = place.split(['[', '.']).next().unwrap();
            let Some((_, field, empty)) = self.slots.iter().find(|slot| slot.0 == name) else {
                continue;
            };
            let Some(slot) = place.strip_suffix(field) else { continue };
            if (field.is_empty() && place.contains('.')) || value == empty {
                continue;
            }
            let label = if value == "true" { name.to_owned() } else { value.clone() };
            let fields = state.iter().filter(|(other, _)| {
                *other == slot || other.strip_prefix(slot).is_some_and(|rest| rest.starts_with('.'))
            });
            let fields = fields.map(|(place, value)| format!("{place}={value} ")).collect();
            full.insert(slot.to_owned(), (label, fields));
        }
        full
    }

    /// The messages of a run, from its states.
    fn messages(&self, report: &Value) -> Vec<Message> {
        let places = |state: &Value| -> BTreeMap<String, String> {
            let fields = state.as_object().unwrap().iter();
            fields
                .map(|(place, value)| (place.clone(), value.as_str().unwrap().to_owned()))
                .collect()
        };
        let mut before = self.full(&places(&report["start"]["state"]));
        assert!(before.is_empty(), "no message is under way at the start");
        let mut open: BTreeMap<String, Message> = BTreeMap::new();
        let mut messages = Vec::new();
        for (at, step) in report["counterexample"].as_array().unwrap().iter().enumerate() {
            let (number, actor) = (at + 1, self.actor(step));
            let Some(state) = step.get("state") else { continue };
            let after = self.full(&places(state));
            for slot in before.keys().filter(|slot| after.get(*slot) != before.get(*slot)) {
                let mut message = open.remove(slot).unwrap();
                message.4 = Some((number, actor.clone()));
                messages.push(message);
            }
            for (slot, (label, _)) in
                after.iter().filter(|(slot, now)| before.get(*slot) != Some(*now))
            {
                let message = (label.clone(), slot.clone(), number, actor.clone(), None);
                open.insert(slot.clone(), message);
            }
            before = after;
        }
        messages.extend(open.into_values());
        messages.sort();
        messages
    }
}

#[test]
fn every_arrow_is_a_message_that_the_rules_sent_and_took() {
    let folder = directory("charts-arrows");
    let page = folder.join("run.html");
    let cases = [
        (&FLASH, "flash-write-back-race", 4),
        (&FLASH, "flash-overtaken-get-not-marked", 4),
        (&FLASH, "flash-first-acknowledgement-ends-collection", 4),
        (&TSO_CC, "tso-cc-ack-ro-not-awaited", 4),
        (&TSO_CC, "tso-cc-invalidated-read-kept", 4),
        (&TSO_CC, "tso-cc-old-owner-keeps-line", 4),
    ];
    let mut longest = [0, 0];
    for (protocol, name, least) in cases {
        let model = format!("protocols/broken/{name}.m");
        // Breadth-first runs are the shortest, depth-first ones go on for long.
        for search in [&["--search", "bfs"][..], &["--search", "dfs", "--bound", "64"]] {
            let arguments =
                ["explore", "--json", "--quiet", "--jobs", "1", "--trace-all", "--report"];
            let arguments = [&arguments[..], &[page.to_str().unwrap(), &model], search].concat();
            let ran = run(&arguments);
            assert_eq!(ran.code, Some(1), "{name}: {}", ran.stderr);
            let report = &ran.json()[0];
            let expected = protocol.messages(report);
            assert!(expected.len() >= least, "{name}: {} messages", expected.len());
            assert_eq!(arrows(&data(&page)), expected, "{name} {search:?}");
            let steps = report["counterexample"].as_array().unwrap().len();
            let kind = usize::from(std::ptr::eq(protocol, &TSO_CC));
            longest[kind] = longest[kind].max(steps);
        }
    }
    println!("longest runs: flash {} steps, tso-cc {} steps", longest[0], longest[1]);
    assert!(longest.iter().all(|&steps| steps >= 60), "{longest:?}");
}

#[test]
fn a_counterexample_is_stepped_through() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("charts-step");
    let page = folder.join("run.html");
    let model = "protocols/broken/german-grants-before-acks.m";
    let ran = run(&["explore", "--quiet", "--report", page.to_str().unwrap(), model]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let mut tab = browser.open(&page);
    assert_eq!(tab.text("h1"), model);
    let title = tab.text(".side h2");
    assert!(title.starts_with("Start"), "{title}");
    assert_eq!(tab.count("[data-step]"), 9);
    assert!(tab.count(".message") > 4);
    tab.press("ArrowRight");
    assert!(tab.text(".side h2").starts_with("Step 1: "));
    assert_eq!(tab.place(), "step=1");
    assert!(tab.count(".tree .leaf.changed") > 0);
    assert!(tab.text(".side .source").contains("==>"), "the source of the rule is beside it");
    tab.click("[data-step='9'] circle");
    assert!(tab.text(".side pre.why").contains("single writer"));
    tab.press("ArrowLeft");
    assert_eq!(tab.place(), "step=8");
    // Messages are reported in words, too.
    assert!(tab.count(".side .messages li") > 0);
    tab.go("step=3");
    assert!(tab.text(".side h2").starts_with("Step 3: "));
    // Rules and source.
    tab.go("view=rules");
    assert!(tab.count("tbody tr") > 5);
    assert!(tab.count(".source .covered") > 10);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_search_is_plotted() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("charts-search");
    let page = folder.join("run.html");
    let arguments =
        ["explore", "--json", "--quiet", "--jobs", "1", "--report", page.to_str().unwrap()];
    let ran = run(&[&arguments[..], &["protocols/german.m"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let report = &ran.json()[0];
    let found = &data(&page)["search"];
    let by_depth: Vec<u64> = serde_json::from_value(found["depths"]["states"].clone()).unwrap();
    assert_eq!(by_depth.iter().sum::<u64>(), report["states"]);
    assert_eq!(by_depth.len() as u64 - 1, report["depth"]);

    let mut tab = browser.open_at(&page, "#view=search");
    assert!(tab.text(".tiles").contains("states, up to symmetry"));
    assert_eq!(tab.count(".plot"), 3);
    assert_eq!(tab.count(".plot:first-child .plot-bar"), by_depth.len() as u64);
    // The arrow keys say the numbers, the first and the next.
    tab.evaluate("document.querySelector('.plot svg').focus()");
    for states in &by_depth[..2] {
        tab.press("ArrowRight");
        assert_eq!(tab.text(".plot-tip b"), states.to_string());
    }
    // So does the pointer, and a table.
    tab.hover(".plot:first-child .plot-bar:last-of-type");
    let last = by_depth.len() - 1;
    assert!(tab.text(".plot-tip").starts_with("rules from a start state: "), "{last}");
    tab.click(".plot summary");
    let rows = format!(
        "document.querySelectorAll('.plot:first-child tbody tr').length === {}",
        by_depth.len()
    );
    assert!(tab.becomes(&rows));
    assert!(tab.text("#view-search").contains("interchangeable"));
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn the_memory_trace_of_a_verification_has_its_cycle() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("charts-memory");
    let page = folder.join("run.html");
    let model = "protocols/broken/tso-cc-no-self-invalidation.m";
    let arguments =
        ["verify", "--quiet", "--model", "tso", "--report", page.to_str().unwrap(), model];
    let ran = run(&arguments);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let mut tab = browser.open_at(&page, "#view=memory");
    assert!(tab.count("#view-memory .picture .box-on") > 2);
    tab.click("#view-memory .links li");
    assert!(tab.count("#view-memory .links li.chosen") == 1);
    tab.press("1");
    assert!(tab.count(".message") > 3);
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_proof_shows_its_lemmas_and_its_abstraction() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("charts-lemmas");
    let page = folder.join("proof.html");
    let model = "protocols/german.m";
    let arguments =
        ["verify", "--any-processors", "--quiet", "--report", page.to_str().unwrap(), model];
    let ran = run(&arguments);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let mut tab = browser.open(&page);
    assert!(tab.text("h1").contains("german.m"));
    assert!(tab.count(".lemma") > 0);
    assert!(tab.text(".lemma").contains("invariant"));
    assert!(tab.text(".lemma").contains("excludes the step"));
    let answer = "JSON.parse(document.getElementById('data').textContent).answer.claims";
    let lemmas = tab.evaluate(&format!("{answer}.flatMap((claim) => claim.lemmas)"));
    let lemmas = lemmas.as_array().unwrap();
    assert_eq!(tab.count(".lemma"), lemmas.len() as u64);
    for (number, lemma) in lemmas.iter().enumerate() {
        let card = format!("#lemma-{}", number + 1);
        assert_eq!(tab.text(&format!("{card} pre")), lemma["invariant"]);
        assert_eq!(tab.text(&format!("{card} .excluded")), lemma["called_for"]);
    }
    tab.click(".lemma-rule summary");
    assert!(tab.text(".lemma-rule[open] .source").to_lowercase().contains("rule"));

    // The abstraction: what is kept of processors, and the program, as another flag writes it.
    tab.press("2");
    assert_eq!(tab.place(), "view=abstraction");
    assert_eq!(tab.count(".claim"), 1);
    assert!(tab.text(".claim .facts").contains("Other for the rest"));
    assert_eq!(tab.count(".abstract-program .source"), 0);
    tab.click(".abstract-program summary");
    assert!(
        tab.becomes("document.querySelectorAll('.abstract-program .source > div').length > 50")
    );
    let emitted = folder.join("abstraction.m");
    let flags = ["verify", "--any-processors", "--quiet", "--emit-abstraction"];
    assert_eq!(run(&[&flags[..], &[emitted.to_str().unwrap(), model]].concat()).code, Some(0));
    let program = data(&page)["proof"]["abstractions"][0]["text"].clone();
    assert_eq!(program, std::fs::read_to_string(emitted).unwrap());
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn the_user_says_what_lanes_and_messages_are() {
    let folder = directory("charts-flags");
    let page = folder.join("run.html");
    let to = page.to_str().unwrap();
    let model = "protocols/broken/german-grants-before-acks.m";
    let flags = ["explore", "--quiet", "--report", to, "--lanes", "Node", "--messages", "channel1"];
    assert_eq!(run(&[&flags[..], &[model]].concat()).code, Some(1));
    let found = data(&page);
    let slots: Vec<&str> = found["run"]["arrows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|arrow| arrow["slot"].as_str().unwrap().split('[').next().unwrap())
        .collect();
    assert!(!slots.is_empty() && slots.iter().all(|&slot| slot == "channel1"), "{slots:?}");
    for (flag, name) in [("--lanes", "Nobody"), ("--messages", "nothing")] {
        let ran = run(&["explore", "--quiet", "--report", to, flag, name, model]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.stderr.contains(name) && ran.stderr.contains(flag), "{}", ran.stderr);
    }
}
