//! Finds the place in the protocol that a diagnostic about a composition refers to.
//!
//! A protocol composed with an observer is a text that the user has never seen. If a construct in it
//! cannot be abstracted, it is either a part of the protocol, which is found in the source by its text,
//! or a part of the observer; then the diagnostic points to the procedure that marks the observed event.

use murphi::ast::{Item, Program, Statement};
use murphi::diagnostic::Diagnostic;
use murphi::parse::parse;
use murphi::print::print_expression;
use murphi::source::{Source, Span};
use murphi::transform::{each_part, each_statement, flatten_all, own_expressions};

use crate::question::{Failure, Question};

/// Restates diagnostics about a composed text as diagnostics about the protocol.
pub(crate) fn refused(
    question: &Question<'_>,
    text: &Source,
    problems: Vec<Diagnostic>,
) -> Failure {
    let protocol = question.source;
    if text.text == protocol.text {
        return Failure::Unsuitable(protocol.clone(), problems);
    }
    let Some(program) = parse(protocol).0 else {
        return Failure::Unsuitable(text.clone(), problems);
    };
    let in_protocol = |problem: Diagnostic| match place(&program, text, problem.span) {
        Some(span) => Diagnostic { span, related: Vec::new(), ..problem },
        None => observed(question, &program, problem),
    };
    let problems = problems.into_iter().map(in_protocol).collect();
    Failure::Unsuitable(protocol.clone(), problems)
}

/// The part of the protocol whose text equals that of a part of the composition.
fn place(program: &Program, text: &Source, span: Span) -> Option<Span> {
    let wanted = text.text.get(span.start as usize..span.end as usize)?;
    let mut found = None;
    let mut look = |statements: &[Statement]| {
        each_statement(statements, &mut |statement| {
            for whole in own_expressions(statement) {
                each_part(whole, &mut |part| {
                    if found.is_none() && print_expression(part) == wanted {
                        found = Some(part.span);
                    }
                });
            }
        });
    };
    for item in &program.items {
        if let Item::Function(function) = item
            && let murphi::ast::FunctionDefinition::Body(body) = &function.definition
        {
            look(&body.statements);
        }
    }
    let flattened = flatten_all(program).ok()?;
    flattened.rules.iter().for_each(|rule| look(&rule.body.statements));
    flattened.start_states.iter().for_each(|start| look(&start.item.1.statements));
    for guard in flattened.rules.iter().filter_map(|rule| rule.guard.as_ref()) {
        each_part(guard, &mut |part| {
            if found.is_none() && print_expression(part) == wanted {
                found = Some(part.span);
            }
        });
    }
    found
}

/// A diagnostic about the text of an observer: its place is the procedure that marks the observed
/// event.
fn observed(question: &Question<'_>, program: &Program, problem: Diagnostic) -> Diagnostic {
    let events = &question.options.events;
    let commit = events.commit.as_deref().unwrap_or("Commit");
    let marks = [commit, &events.store, &events.load];
    let mark = marks.into_iter().find_map(|mark| {
        program.items.iter().find_map(|item| match item {
            Item::Function(function) if function.name.text == mark => Some(&function.name),
            _ => None,
        })
    });
    let Some(mark) = mark else { return problem };
    let message =
        format!("the observer of `{}` cannot be abstracted: {}", mark.text, problem.message);
    let help = match mark.text == commit {
        true => {
            "verify with --commit none, or for a fixed number of processors (without \
                 --any-processors)"
        }
        false => "verify for a fixed number of processors, without --any-processors",
    };
    Diagnostic::error(mark.span, message).help(help)
}
