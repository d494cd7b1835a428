//! Text from traces, models, tests and command lines is data: whatever it says, no page takes it for
//! markup and nothing of it runs. Every kind of page that the command writes is tried in a real browser
//! (the page of measurements beside what makes it, in `bench`).

use std::path::Path;

use browser::{Browser, Tab};

use crate::common::{STORE_BUFFERING, directory, file, run};

/// What would run if text were markup, as far as a name of a file can say it.
const IN_A_NAME: &str = "<script>window.ran=1<img src=x onerror=window.ran=1>'\"<!--";

/// The same for text that may have a slash, and that ends the element a script stands in.
const IN_TEXT: &str = "</script><script>window.ran=1</script><img src=x onerror=window.ran=1>'<!--";

/// Runs the command, which has to find something.
fn found(arguments: &[&str]) {
    let ran = run(arguments);
    assert_eq!(ran.code, Some(1), "{arguments:?}: {}", ran.stderr);
}

/// Looks at a page, whose text has to have all of the hostile words.
fn assert_harmless(browser: &mut Browser, page: &Path, words: &[&str], look: fn(&mut Tab<'_>)) {
    let mut tab = browser.open(page);
    look(&mut tab);
    let text = "document.querySelector('main').parentElement.innerText + document.title";
    let shown = tab.evaluate(text);
    let shown = shown.as_str().unwrap();
    for words in words {
        assert!(shown.contains(words), "{}: {words} is shown as it is:\n{shown}", page.display());
    }
    assert_eq!(tab.evaluate("typeof window.ran"), "undefined", "{}", page.display());
    assert_eq!(tab.count("img:not(.paper)"), 0, "{}", page.display());
    assert_eq!(tab.evaluate("document.scripts.length"), 2, "{}", page.display());
    assert_eq!(tab.complaints(), Vec::<String>::new(), "{}", page.display());
}

#[test]
fn names_in_traces_models_and_tests_run_nothing_on_any_page() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = directory("pages-hostile");
    let page = folder.join("page.html");
    let to = page.to_str().unwrap();

    // A trace, judged by a model file: the names of both, a comment of each.
    let model = format!(
        "let kept =\n  po (* rule {IN_TEXT} *)\n  | po-loc\nacyclic kept | rf | co | fr as order\n"
    );
    let model = file(&folder, &format!("{IN_A_NAME}.cat"), model);
    let text = STORE_BUFFERING.replacen('\n', &format!(" # {IN_TEXT}\n"), 1);
    assert!(text.contains(IN_TEXT));
    let trace = file(&folder, &format!("{IN_A_NAME}.trace"), text);
    found(&["explain", "--model", &model, "-o", to, &trace]);
    assert_harmless(&mut browser, &page, &[IN_A_NAME, IN_TEXT], |tab| tab.press("ArrowRight"));
    assert_harmless(&mut browser, &page, &[IN_A_NAME], |tab| {
        tab.press("2");
        tab.click(".lanes .event");
    });

    // The list of such pages.
    let pages = folder.join("pages");
    let report = pages.to_str().unwrap();
    found(&["check", "--quiet", "--model", &model, "--report", report, &trace]);
    assert_harmless(&mut browser, &pages.join("index.html"), &[IN_A_NAME], |_| ());

    // A protocol: its name, those of rules and claims, and comments.
    let text = format!(
        "var n: 0..3;\nstartstate \"{IN_TEXT}\" begin n := 0; end;\n\
         rule \"{IN_TEXT}\" n < 3 ==> begin n := n + 1; end; -- {IN_TEXT}\n\
         invariant \"{IN_TEXT}\" n < 3;\n"
    );
    let protocol = file(&folder, &format!("{IN_A_NAME}.m"), text);
    found(&["explore", "--quiet", "--report", to, &protocol]);
    let words = &[IN_A_NAME, IN_TEXT];
    assert_harmless(&mut browser, &page, words, |tab| tab.press("End"));
    assert_harmless(&mut browser, &page, words, |tab| tab.go("view=rules"));
    assert_harmless(&mut browser, &page, &[IN_A_NAME], |tab| tab.go("view=search"));

    // Litmus tests: their names, titles and files.
    let text = format!(
        "X86 {}\n\"{IN_TEXT}\"\n{{ x=0; y=0; }}\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n \
         MOV EAX,[y] | MOV EAX,[x] ;\n~exists (0:EAX=0 /\\ 1:EAX=0)\n",
        IN_TEXT.replace(' ', "/")
    );
    let test = file(&folder, &format!("{IN_A_NAME}.litmus"), text);
    found(&["litmus", "--quiet", "--report", to, &test]);
    assert_harmless(&mut browser, &page, &[IN_TEXT, &IN_TEXT.replace(' ', "/")], |_| ());

    // A hunt: the command that runs the tests, and the folder.
    let target = format!("exec:python3 examples/tso_target.py # {IN_TEXT}");
    let out = folder.join(format!("hunt{IN_A_NAME}"));
    let flags = ["--model", "sc", "--tests", "40", "--seed", "1", "--quiet"];
    let where_to = ["--on", &target, "--out", out.to_str().unwrap()];
    found(&[&["hunt"][..], &flags, &where_to].concat());
    // Opened by a name that an address can have.
    std::fs::copy(out.join("index.html"), &page).unwrap();
    let words = &[IN_A_NAME, IN_TEXT];
    assert_harmless(&mut browser, &page, words, |tab| assert!(tab.count("img.paper") > 0));
}
