//! Protocols and what is made of them.

use std::sync::Arc;

use murphi::ast::Program;
use murphi::interpret::Interpreter;
use murphi::parse::parse;
use murphi::print::print;
use murphi::source::Source;
use tribunal_abstraction::{Abstraction, Options, Prepared, abstraction, prepare};

/// A protocol of the project.
pub(crate) fn protocol(name: &str) -> Source {
    let path = format!("{}/../../protocols/{name}.m", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the protocol is there");
    Source { name: format!("{name}.m"), text }
}

/// The syntax tree of a source.
pub(crate) fn parsed(source: &Source) -> Program {
    parse(source).0.expect("it is Murphi")
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

/// A program, prepared and abstracted without lemmas.
pub(crate) fn abstracted(program: &Program, processor: Option<&str>) -> (Prepared, Abstraction) {
    let prepared = prepare(program, processor).expect("it can be prepared");
    let made = abstraction(&prepared, &Options::default(), &[]).expect("it can be abstracted");
    (prepared, made)
}
