//! Ways of writing of published model files, in the terms that all evaluators of the language know.
//!
//! - `let rec r = a | b | r ; r` is the least relation that has a and b and is transitive:
//!   `let r = (a | b)+`.
//! - `irreflexive r` of such a relation says that a | b has no cycle: `acyclic r`.
//! - `ctrlcfence(S)` of herdtools' library before 2019 is `ctrlcfence(ctrl, S)` of today's.

use std::collections::HashMap;

use crate::syntax::{Binary, Binding, Expression, ExpressionKind, Instruction, Name, Test, Unary};

/// Rewrites the lines of a model.
pub(crate) fn rewrite(instructions: &mut [Instruction]) {
    // By name, whether it is a transitive closure.
    let mut is_closure: HashMap<String, bool> = HashMap::new();
    let own_fence = defines_fence_of_one(instructions);
    for instruction in instructions {
        match instruction {
            Instruction::Let { recursive, bindings } => {
                if *recursive && let [binding] = &mut bindings[..] {
                    *recursive = !close(binding);
                }
                for binding in bindings {
                    if !own_fence {
                        complete_fences(&mut binding.body);
                    }
                    let closed =
                        binding.parameters.is_none() && is_closed(&binding.body, &is_closure);
                    is_closure.insert(binding.name.text.clone(), closed);
                }
            }
            Instruction::Axiom(axiom) => {
                if axiom.test == Test::Irreflexive && is_closed(&axiom.body, &is_closure) {
                    axiom.test = Test::Acyclic;
                }
            }
        }
    }
}

fn is_closed(body: &Expression, is_closure: &HashMap<String, bool>) -> bool {
    match &body.kind {
        ExpressionKind::Unary(Unary::Plus, _) => true,
        ExpressionKind::Name(name) => is_closure.get(name).copied().unwrap_or_default(),
        _ => false,
    }
}

/// Makes a closure of a recursive definition that has its form.
fn close(binding: &mut Binding) -> bool {
    if binding.parameters.is_some() {
        return false;
    }
    let name = &binding.name.text;
    let mut members = Vec::new();
    flatten(&binding.body, &mut members);
    let (itself, others): (Vec<_>, Vec<_>) =
        members.into_iter().partition(|member| is_twice(member, name));
    if itself.is_empty() || others.is_empty() || others.iter().any(|other| mentions(other, name)) {
        return false;
    }
    let place = binding.body.place;
    let others: Vec<Expression> = others.into_iter().cloned().collect();
    let union = Expression { kind: ExpressionKind::Binary(Binary::Union, others), place };
    let kind = ExpressionKind::Unary(Unary::Plus, Box::new(union));
    binding.body = Expression { kind, place };
    true
}

/// The members of a union.
fn flatten<'e>(expression: &'e Expression, members: &mut Vec<&'e Expression>) {
    match &expression.kind {
        ExpressionKind::Binary(Binary::Union, operands) => {
            operands.iter().for_each(|operand| flatten(operand, members));
        }
        _ => members.push(expression),
    }
}

/// `name ; name`
fn is_twice(expression: &Expression, name: &str) -> bool {
    let is_name = |each: &Expression| matches!(&each.kind, ExpressionKind::Name(n) if n == name);
    match &expression.kind {
        ExpressionKind::Binary(Binary::Sequence, operands) => {
            operands.len() == 2 && operands.iter().all(is_name)
        }
        _ => false,
    }
}

/// Whether a name stands anywhere in an expression.
fn mentions(expression: &Expression, name: &str) -> bool {
    match &expression.kind {
        ExpressionKind::Name(other) => other == name,
        ExpressionKind::Apply { function, .. } if function.text == name => true,
        ExpressionKind::Let { bindings, body, .. } => {
            mentions(body, name) || bindings.iter().any(|binding| mentions(&binding.body, name))
        }
        _ => operands(expression).any(|operand| mentions(operand, name)),
    }
}

/// What an expression is made from; the bindings of a `let` aside.
fn operands(expression: &Expression) -> impl Iterator<Item = &Expression> {
    let (one, two, many): (Option<&Expression>, Option<&Expression>, &[Expression]) =
        match &expression.kind {
            ExpressionKind::Name(_) | ExpressionKind::Empty | ExpressionKind::Universe => {
                (None, None, &[])
            }
            ExpressionKind::Identity(inner) | ExpressionKind::Unary(_, inner) => {
                (Some(inner), None, &[])
            }
            ExpressionKind::Binary(_, operands) => (None, None, operands),
            ExpressionKind::Apply { arguments, .. } => (None, None, arguments),
            ExpressionKind::Let { body, .. } => (Some(body), None, &[]),
            ExpressionKind::Try { first, otherwise } => (Some(first), Some(otherwise), &[]),
        };
    one.into_iter().chain(two).chain(many)
}

/// The fences behind a control dependency.
const FENCE: &str = "ctrlcfence";

/// Whether the file has a function of this name and one parameter.
fn defines_fence_of_one(instructions: &[Instruction]) -> bool {
    let is_own = |binding: &Binding| {
        let parameters = binding.parameters.as_ref().map(Vec::len);
        binding.name.text == FENCE && parameters == Some(1)
    };
    instructions.iter().any(
        |each| matches!(each, Instruction::Let { bindings, .. } if bindings.iter().any(is_own)),
    )
}

/// Adds the dependency to calls that have the fences alone.
fn complete_fences(expression: &mut Expression) {
    match &mut expression.kind {
        ExpressionKind::Name(_) | ExpressionKind::Empty | ExpressionKind::Universe => {}
        ExpressionKind::Identity(inner) | ExpressionKind::Unary(_, inner) => complete_fences(inner),
        ExpressionKind::Binary(_, operands) => operands.iter_mut().for_each(complete_fences),
        ExpressionKind::Apply { function: Name { text, place }, arguments } => {
            arguments.iter_mut().for_each(complete_fences);
            if text == FENCE && arguments.len() == 1 {
                let kind = ExpressionKind::Name("ctrl".to_owned());
                arguments.insert(0, Expression { kind, place: *place });
            }
        }
        ExpressionKind::Let { bindings, body, .. } => {
            bindings.iter_mut().for_each(|binding| complete_fences(&mut binding.body));
            complete_fences(body);
        }
        ExpressionKind::Try { first, otherwise } => {
            complete_fences(first);
            complete_fences(otherwise);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::CatModel;

    fn tests_of(text: &str) -> Vec<Test> {
        let model = CatModel::from_text("my.cat", text).unwrap_or_else(|error| panic!("{error}"));
        model.axioms().map(|axiom| axiom.test).collect()
    }

    #[test]
    fn what_is_closed_has_no_cycle() {
        let (closed, open) = ([Test::Acyclic], [Test::Irreflexive]);
        assert_eq!(tests_of("let rec r = po | (rf | r ; r)\nirreflexive r"), closed);
        assert_eq!(tests_of("let r = (po | rf)+\nlet s = r\nirreflexive s"), closed);
        assert_eq!(tests_of("irreflexive (po | rf)+"), closed);
        // Not transitive, defined anew, or of another form.
        assert_eq!(tests_of("let rec r = po | r ; rf\nirreflexive r"), open);
        assert_eq!(tests_of("let rec r = po | r ; r | [W] ; r\nirreflexive r"), open);
        assert_eq!(tests_of("let rec r = po | s ; s and s = rf | r ; r\nirreflexive r"), open);
        assert_eq!(tests_of("let r = po+\nlet r = rf\nirreflexive r"), open);
        assert_eq!(tests_of("let r() = po+\nirreflexive r()"), open);
        assert_eq!(tests_of("irreflexive po ; rf+"), open);
        // A definition that mentions itself within a `let`, a function or a `try`.
        for member in ["let x = r in x ; rf", "range(r) * W", "try r & rf with 0"] {
            assert_eq!(
                tests_of(&format!("let rec r = po | r ; r | ({member})\nirreflexive r")),
                open
            );
        }
    }

    #[test]
    fn fences_behind_a_control_dependency_have_one_argument_or_two() {
        for call in ["ctrlcfence(ISB)", "ctrlcfence(ctrl, ISB)", "try ctrlcfence(ISB) with 0"] {
            let text = format!("let isb = {call}\nacyclic isb | rfe");
            let model = CatModel::from_text("my.cat", &text).unwrap();
            assert_eq!(model.axioms().len(), 1, "{call}");
        }
        let own = "let ctrlcfence(S) = po ; [S]\nlet isb = ctrlcfence(ISB)\nacyclic isb";
        assert!(CatModel::from_text("my.cat", own).is_ok());
        assert!(CatModel::from_text("my.cat", "acyclic ctrlcfence(1, 2, 3)").is_err());
    }
}
