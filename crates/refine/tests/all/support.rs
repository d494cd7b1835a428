//! Protocols and what runs them.

use std::sync::Arc;

use murphi::ast::Program;
use murphi::interpret::Interpreter;
use murphi::print::print;
use murphi::source::Source;

/// A protocol of the project.
pub(crate) fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

/// A program that can be run.
pub(crate) fn runnable(program: &Program) -> Interpreter {
    let source = Source { name: "model.m".into(), text: print(program) };
    let checked = murphi::load(source.clone(), &murphi::check::Options::default());
    let checked = checked.unwrap_or_else(|problems| {
        let shown: Vec<String> =
            problems.iter().map(|problem| problem.render(&source, false)).collect();
        panic!("{}", shown.join(""))
    });
    Interpreter::new(Arc::new(checked.model)).expect("it is small enough")
}
