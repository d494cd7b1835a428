//! Pages in a real browser: opened from disk, stepped through, searched, linked; no error on the
//! console, no request that leaves the file, and nothing in a trace or a model that runs.

use std::path::{Path, PathBuf};

use browser::{Browser, Tab};

use crate::common::{STORE_BUFFERING, directory, file, run, run_with};

/// Runs the command, which has to end in this way, and gives the page it wrote.
fn page(folder: &Path, code: i32, arguments: &[&str]) -> PathBuf {
    let path = folder.join("page.html");
    let path_text = path.to_str().unwrap();
    let arguments: Vec<&str> =
        arguments.iter().map(|&a| if a == "PAGE" { path_text } else { a }).collect();
    let ran = run(&arguments);
    assert_eq!(ran.code, Some(code), "{}", ran.stderr);
    path
}

#[track_caller]
fn assert_quiet(tab: &mut Tab<'_>) {
    assert_eq!(tab.complaints(), Vec::<String>::new());
}

#[test]
fn a_violation_is_explained_step_by_step() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-violation");
    let trace = "examples/store-buffering.trace";
    let path = page(&folder, 1, &["explain", "--model", "sc", "-o", "PAGE", trace]);
    let mut tab = browser.open(&path);
    assert_eq!(tab.text("h1"), "examples/store-buffering.trace, trace 1: sc");
    assert_eq!(tab.text(".verdict"), "✗violation");
    assert!(tab.text(".gist").starts_with("Under sc, each of these 4 events"));
    assert_eq!(tab.count(".picture .box-on"), 4);
    assert_eq!(tab.count(".links.main > li"), 4);

    // Round the cycle by keys.
    tab.press("ArrowRight");
    assert!(tab.text(".side").contains("sc keeps all of program order"));
    assert_eq!(tab.place(), "view=why&edge=0");
    tab.press("ArrowRight");
    assert!(tab.text(".side").contains("read the initial value"));
    tab.press("ArrowLeft");
    tab.press("ArrowLeft");
    assert_eq!(tab.place(), "view=why&edge=3");

    // By mouse: an arrow, an event and its line of the trace.
    tab.click(".picture [data-from='0'][data-to='1']");
    assert_eq!(tab.place(), "view=why&edge=0");
    tab.click(".picture [data-node='2']");
    assert_eq!(tab.text(".side h2"), "M[y] := 1");
    assert_eq!(tab.text(".side .listing .on .at"), "11");

    // The whole trace, and a search in it.
    tab.press("2");
    assert_eq!(tab.count(".lanes .event"), 4);
    tab.press("/");
    tab.enter("M[x]");
    tab.press("Enter");
    assert!(tab.becomes("document.querySelectorAll('.event.hit').length === 2"));
    tab.press("Enter");
    assert_eq!(tab.text(".side h2"), "M[x] == 0");
    assert_eq!(tab.place(), "view=trace&event=1.1");

    // The text and the files to take away.
    let text = "JSON.parse(document.getElementById('data').textContent)";
    let explained = run(&["explain", "--model", "sc", trace]).stdout;
    assert_eq!(tab.evaluate(&format!("{text}.text")), explained);
    assert_eq!(tab.count("[data-save='minimal.trace']"), 1);
    let certificate = tab.evaluate(&format!("{text}.saves[1].text"));
    let certificate = file(&folder, "page.proof", certificate.as_str().unwrap());
    let certified = run(&["certify", trace, &certificate]);
    assert!(certified.stdout.contains("#1: sc: violation: certificate holds"), "{certified:?}");
    let minimal = tab.evaluate(&format!("{text}.saves[0].text"));
    let judged = run_with(minimal.as_str().unwrap(), &["check", "--quiet", "-"]);
    assert_eq!(judged.code, Some(1));
    assert_quiet(&mut tab);
}

#[test]
fn links_lead_to_what_they_name() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-links");
    let trace = "examples/coherence-bug.trace";
    let path = page(&folder, 1, &["explain", "--model", "tso", "-o", "PAGE", trace]);
    let mut tab = browser.open_at(&path, "#line=36");
    assert_eq!(tab.text(".side .listing .on .at"), "36");
    assert_eq!(tab.count(".lanes .event.chosen"), 1);
    tab.go("view=why&edge=1");
    assert_eq!(tab.count(".links li.chosen"), 1);
    assert_quiet(&mut tab);
}

#[test]
fn steps_of_an_argument_unfold() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-steps");
    let text = "0: x := 1\n0: x := 2\n1: x == 2\n1: y := 1\n2: y == 1\n2: x == 1\n\
                3: y := 2\n3: x == 2\n3: x == 1\ncheck\n";
    let trace = file(&folder, "steps.trace", text);
    let path = page(&folder, 1, &["explain", "--model", "ccv", "-o", "PAGE", &trace]);
    let mut tab = browser.open(&path);
    let steps = tab.count("details.fact");
    assert!(steps > 0, "there is a step to unfold");
    assert_eq!(tab.count("details.fact[open]"), 0);
    tab.click("details.fact summary");
    assert_eq!(tab.count("details.fact[open]"), 1);
    assert_quiet(&mut tab);
}

#[test]
fn the_order_of_a_consistent_trace_is_played() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-play");
    let trace = file(&folder, "sb.trace", STORE_BUFFERING);
    let path = page(&folder, 0, &["explain", "--model", "tso", "-o", "PAGE", &trace]);
    let mut tab = browser.open(&path);
    assert_eq!(tab.text(".verdict"), "✓consistent");
    assert_eq!(
        tab.evaluate("document.querySelector('[data-unexplained]').dataset.unexplained"),
        "0"
    );
    // The writes wait in their buffers while both reads take 0 from memory.
    let mut waited = false;
    for step in 1..=6 {
        tab.press("ArrowRight");
        assert_eq!(tab.place(), format!("view=play&step={step}"));
        waited |= tab.count(".buffer .slot") == 2;
    }
    assert!(waited, "both writes are in store buffers at a time");
    assert_eq!(tab.text(".memory"), "x = 1y = 1");
    tab.click("#play-back");
    assert!(tab.place().ends_with("step=5"));
    tab.go("step=0");
    assert_eq!(tab.text(".memory"), "x = 0y = 0");
    assert_quiet(&mut tab);
}

#[test]
fn each_violation_of_a_check_has_a_page_in_the_index() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-index");
    let to = folder.join("pages");
    let arguments = ["check", "--quiet", "--model", "sc,tso", "--report", to.to_str().unwrap()];
    let ran = run(&[&arguments[..], &["examples/store-buffering.trace"]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let mut tab = browser.open(&to.join("index.html"));
    assert_eq!(tab.count("main table:first-of-type tbody tr"), 5);
    assert_eq!(tab.count("a[href]"), 3);
    assert_quiet(&mut tab);
    let names: Vec<String> =
        serde_json::from_value(tab.evaluate(
            "[...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))",
        ))
        .unwrap();
    for name in names {
        let mut tab = browser.open(&to.join(&name));
        assert_eq!(tab.count(".picture .box-on"), 4, "{name}");
        assert_quiet(&mut tab);
    }
}

#[test]
fn a_hunt_keeps_a_page_of_what_it_finds() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-hunt").join("hunt");
    let to = folder.to_str().unwrap();
    let flags =
        ["--on", "machine:tso", "--model", "sc", "--tests", "500", "--seed", "1", "--quiet"];
    let ran = run(&[&["hunt"][..], &flags, &["--out", to]].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let mut tab = browser.open(&folder.join("index.html"));
    assert!(
        tab.text(".verdict").contains("violation") && !tab.text(".verdict").contains("running")
    );
    assert!(tab.count("details.fact") > 0);
    let drawn = "document.querySelector('img.paper').naturalWidth > 100";
    assert!(tab.becomes(drawn), "the picture of the first finding is shown");
    assert!(tab.text("details.fact pre").contains("There is a cycle"));
    assert!(tab.text("details.fact code").starts_with("tribunal explain --model sc"));

    // What was exercised: darker where there was more, and the same numbers as in the summary.
    tab.press("3");
    assert_eq!(tab.place(), "view=coverage");
    assert!(tab.count(".heat-5") > 0 && tab.count(".heat-1") > 0);
    let table = "JSON.parse(document.getElementById('data').textContent).summary.coverage";
    let sums = "[...document.querySelectorAll('#view-coverage .card:first-child td')]
        .reduce((sum, cell) => sum + (Number(cell.textContent.replaceAll(',', '')) || 0), 0)";
    let expected = format!(
        "Object.values({table}.communication).flatMap(Object.values).reduce((a, b) => a + b)"
    );
    let expected = tab.evaluate(&expected);
    assert!(expected.as_u64().unwrap() > 0);
    assert_eq!(tab.evaluate(sums), expected);

    // The rate: three plots, which say their numbers.
    tab.press("2");
    assert_eq!(tab.count("#view-pace .plot svg"), 3);
    let samples = "JSON.parse(document.getElementById('data').textContent).pace";
    let last = tab.evaluate(&format!("{samples}.at(-1)[1].outcomes"));
    tab.evaluate("document.querySelectorAll('#view-pace .plot svg')[1].focus()");
    tab.press("ArrowLeft");
    let spoken = tab.text("#view-pace .plot:nth-child(2) .plot-tip b");
    assert!(last.as_u64().unwrap() > 0 && !spoken.is_empty());
    tab.click("#view-pace .plot:nth-child(2) summary");
    assert!(tab.becomes("document.querySelector('#view-pace .plot-table tbody tr')"));
    assert_quiet(&mut tab);
}

/// A long run of a machine that keeps sc, with a read that goes back in time at its end.
fn long_trace(events: usize) -> String {
    let mut text = String::new();
    let mut memory = [0; 64];
    for at in 0..events - 3 {
        let (thread, address) = (at % 16, at * 7 % 61);
        if at % 3 == 0 {
            memory[address] = at + 1;
            text += &format!("{thread}: M[a{address}] := {}\n", at + 1);
        } else {
            text += &format!("{thread}: M[a{address}] == {}\n", memory[address]);
        }
    }
    text + "3: M[late] := 1\n3: M[late] := 2\n3: M[late] == 1\n"
}

#[test]
fn a_hundred_thousand_events_stay_fluid() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-long");
    let trace = file(&folder, "long.trace", long_trace(100_000));
    let path = page(&folder, 1, &["explain", "--model", "sc", "-o", "PAGE", &trace]);
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 20_000_000, "{size} bytes");
    let mut tab = browser.open(&path);
    let opening = tab.longest_task();
    let opening_cpu = tab.busy();
    tab.evaluate("longTasks.length = 0");
    tab.press("2");
    assert!(tab.becomes("document.querySelectorAll('.event').length > 100"));
    let mut scrolling_cpu: f64 = 0.0;
    for step in 1..=20 {
        let before = tab.busy();
        tab.evaluate(&format!(
            "document.querySelector('.lanes').scrollTop = {step} * 7919; \
             new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        ));
        scrolling_cpu = scrolling_cpu.max(tab.busy() - before);
        assert!(tab.count(".event") < 3_000);
    }
    let scrolling = tab.longest_task();
    println!(
        "{size} bytes; longest task: opening {opening} ms, scrolling {scrolling} ms; CPU time: all of \
         opening {opening_cpu:.0} ms, the longest step of scrolling {scrolling_cpu:.0} ms"
    );
    tab.press("/");
    tab.enter("late");
    tab.press("Enter");
    assert!(tab.becomes("document.querySelectorAll('.event.hit').length === 3"));
    assert_quiet(&mut tab);
    // By CPU time, since other work makes every task longer by the clock. A step redraws all that is seen.
    assert!(opening_cpu < 1_000.0 && scrolling_cpu < 250.0, "{opening_cpu}, {scrolling_cpu} ms");
}

#[test]
fn litmus_tests_are_a_table_with_an_execution_behind_each_cell() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-litmus");
    let tests = ["SB+mfences", "IRIW", "SB", "LB", "R"]
        .map(|name| format!("examples/litmus/{name}.litmus"));
    let mut arguments = vec!["litmus", "--quiet", "--model", "sc,tso", "--report", "PAGE"];
    arguments.extend(tests.iter().map(String::as_str));
    let path = page(&folder, 0, &arguments);
    let mut tab = browser.open(&path);
    assert_eq!(tab.text("h1"), "5 litmus tests under sc, tso");
    assert_eq!(tab.count("#tests tbody tr"), 5);
    assert_eq!(tab.count(".litmus-cell"), 10);
    // Tests on which the models differ come first.
    let order = "[...document.querySelectorAll('#tests tbody tr')].map(row => row.className)";
    assert_eq!(tab.evaluate(order), serde_json::json!(["differs", "differs", "", "", ""]));
    assert_eq!(tab.text("#tests tbody tr .mono"), "SB");

    // Store buffering: never under sc, sometimes under tso, with the execution that shows it.
    tab.go("test=SB&column=sc");
    assert!(tab.text("#answer p").starts_with("Never: 0 states meet the condition"));
    assert_eq!(tab.count("#answer .picture [data-event]"), 4);
    tab.press("ArrowRight");
    assert!(tab.text("#answer p").starts_with("Sometimes: 1 state"));
    assert_eq!(tab.place(), "test=SB&column=tso&state=0");
    assert!(tab.text("#answer .chosen-state").contains("meets the condition"));
    assert_eq!(tab.count("#answer .picture .read-from"), 0, "both reads are of initial values");
    assert!(tab.text("#answer pre.program").contains("exists"));
    tab.press("n");
    assert_eq!(tab.count("#answer .picture .read-from"), 1);
    assert_eq!(tab.place(), "test=SB&column=tso&state=1");
    tab.click("#answer [data-state='2']");
    assert_eq!(tab.place(), "test=SB&column=tso&state=2");
    tab.click("[data-test='0'][data-column='1']");
    assert_eq!(tab.count(".litmus-cell[aria-pressed='true']"), 1);

    // Search, and differences alone.
    tab.press("/");
    tab.enter("IRIW");
    assert!(tab.becomes("document.querySelectorAll('#tests tbody tr:not([hidden])').length === 1"));
    assert_quiet(&mut tab);
}

#[test]
fn a_cell_has_what_the_command_prints() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-litmus-text");
    let text = "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
                MOV EAX,[y] | MOV EAX,[x] ;\n~exists (0:EAX=0 /\\ 1:EAX=0)\n";
    let test = file(&folder, "sb.litmus", text);
    let path = page(&folder, 1, &["litmus", "--quiet", "--report", "PAGE", &test]);
    let mut tab = browser.open(&path);
    assert_eq!(tab.text(".verdict"), "✗violation");
    assert_eq!(tab.count(".litmus-cell.broken"), 1);
    // What must not exist exists in one state of four.
    assert!(tab.text(".litmus-cell").ends_with("1 / 4"), "{}", tab.text(".litmus-cell"));
    assert!(tab.text("#answer p").starts_with("Sometimes: 1 state meet the condition, 3 states"));
    let cell = "JSON.parse(document.getElementById('data').textContent).tests[0].cells[0]";
    let printed = run(&["litmus", "--quiet", "--json", "--witness", &test]).stdout;
    let printed: serde_json::Value = serde_json::from_str(&printed).unwrap();
    for field in
        ["architecture", "condition", "kind", "model", "negative", "observation", "verdict"]
    {
        assert_eq!(tab.evaluate(&format!("{cell}.{field}")), printed[field], "{field}");
    }
    let sorted = |states: &serde_json::Value| {
        let mut all: Vec<String> =
            states.as_array().unwrap().iter().map(|state| state["values"].to_string()).collect();
        all.sort();
        all
    };
    assert_eq!(sorted(&tab.evaluate(&format!("{cell}.states"))), sorted(&printed["states"]));
    assert_quiet(&mut tab);
}
