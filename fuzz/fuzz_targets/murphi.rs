//! Arbitrary bytes as a Murphi program: read or refused, and what is read is written back.

#![no_main]

use libfuzzer_sys::fuzz_target;
use murphi::check::{Options, check};
use murphi::diagnostic::Diagnostic;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let source = Source { name: "input".to_string(), text };
    let (program, problems) = parse(&source);
    all_can_be_shown(&problems, &source);
    let Some(program) = program else {
        assert!(!problems.is_empty(), "a refusal has a reason");
        return;
    };
    let printed = print(&program);
    let written = Source { name: "written".to_string(), text: printed.clone() };
    let again = parse(&written).0.expect("what is printed can be read");
    assert_eq!(print(&again), printed);
    if let Err(problems) = check(&program, source.clone().into(), &Options::default()) {
        assert!(!problems.is_empty(), "a refusal has a reason");
        all_can_be_shown(&problems, &source);
    }
});

fn all_can_be_shown(problems: &[Diagnostic], source: &Source) {
    for problem in problems {
        assert!(problem.span.start <= problem.span.end);
        assert!(problem.span.end as usize <= source.text.len());
        assert!(problem.render(source, true).starts_with("\x1b[1;3"));
    }
}
