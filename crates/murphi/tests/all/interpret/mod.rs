//! The reference interpreter, one test for each rule of the language that it decides.

mod control;
mod errors;
mod expressions;
mod machine;
mod multisets;

use std::sync::Arc;

use tribunal_murphi::check::Options;
use tribunal_murphi::interpret::{End, Interpreter, Run, RuntimeError};
use tribunal_murphi::ir::Model;
use tribunal_murphi::load;
use tribunal_murphi::source::Source;

/// Loads a model that has no mistakes.
fn model(text: &str) -> Arc<Model> {
    let source = Source { name: "test.m".to_owned(), text: text.to_owned() };
    match load(source, &Options::default()) {
        Ok(checked) => Arc::new(checked.model),
        Err(diagnostics) => panic!("{text}\n{diagnostics:#?}"),
    }
}

/// Prepares a model to be run.
fn interpreter(text: &str) -> Interpreter {
    Interpreter::new(model(text)).expect("the models here are small")
}

/// Runs the only start state, made of these declarations and statements.
fn start(declarations: &str, body: &str) -> (Interpreter, Run) {
    let text = format!(
        "{declarations}\nstartstate \"start\"\nbegin\n{body}\nend;\n\
         rule \"rest\" true ==> begin end;"
    );
    let interpreter = interpreter(&text);
    let run = interpreter.start(0, 0);
    (interpreter, run)
}

/// What the state variables are after these statements: `x = 1`, ….
fn after(declarations: &str, body: &str) -> Vec<String> {
    let (interpreter, run) = start(declarations, body);
    match run.end {
        End::Done(state) => {
            let listing = state.listing(interpreter.model());
            listing.into_iter().map(|(path, value)| format!("{path} = {value}")).collect()
        }
        end => panic!("{body}\n{end:?}"),
    }
}

/// The value of an integer expression.
fn integer(expression: &str) -> String {
    let body = format!("result := {expression};");
    after("var result: -1000000..1000000;", &body).remove(0).replace("result = ", "")
}

/// The value of a condition.
fn truth(declarations: &str, before: &str, condition: &str) -> bool {
    let declarations = format!("{declarations} var result: boolean;");
    let lines = after(&declarations, &format!("{before} result := {condition};"));
    lines.last().expect("it is the last variable") == "result = true"
}

/// How these statements fail, and the text that is underlined.
fn failure(declarations: &str, body: &str) -> (RuntimeError, String) {
    let (interpreter, run) = start(declarations, body);
    match run.end {
        End::Failed(error) => {
            let text = &interpreter.model().source.text;
            let underlined = text[error.span.start as usize..error.span.end as usize].to_owned();
            (error, underlined)
        }
        end => panic!("{body}\n{end:?}"),
    }
}
