//! Random programs are accepted, use the whole language, and mostly get somewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::{Random, options, source, state};
use crate::check::load;
use crate::interpret::{End, Interpreter, RuntimeErrorKind};
use crate::ir::*;
use crate::machine::{Check, Machine, Successors};
use crate::source::Source;
use crate::value::State;

fn model(seed: u64) -> Arc<Model> {
    let text = source(seed);
    let source = Source { name: "random.m".to_owned(), text: text.clone() };
    match load(source, &options()) {
        Ok(checked) => Arc::new(checked.model),
        Err(diagnostics) => panic!("seed {seed}\n{text}\n{diagnostics:#?}"),
    }
}

#[test]
fn equal_seeds_give_equal_programs_and_others_give_others() {
    assert_eq!(source(7), source(7));
    assert_ne!(source(7), source(8));
}

#[test]
fn two_hundred_programs_use_everything_the_language_has() {
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        visit_model(&model(seed), &mut |node| {
            seen.insert(node);
        });
    }
    let missing: Vec<&str> = NODES.into_iter().filter(|node| !seen.contains(*node)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn most_rules_lead_somewhere_and_every_error_happens() {
    let mut done = 0;
    let mut failed = 0;
    let mut errors: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..300 {
        let interpreter = Interpreter::new(model(seed)).expect("random programs are small");
        for run in walk(&interpreter, seed) {
            match run {
                End::Done(_) => done += 1,
                End::Failed(error) | End::GuardFailed(error) => {
                    failed += 1;
                    *errors.entry(format!("{:?}", error.kind)).or_default() += 1;
                }
                End::Disabled | End::Excluded => {}
            }
        }
    }
    assert!(done > 1000 && done > 2 * failed, "{done} done, {failed} failed: {errors:?}");
    for kind in KINDS {
        assert!(errors.contains_key(&format!("{kind:?}")), "no {kind:?}: {errors:?}");
    }
}

/// Ends of runs along a short random walk.
fn walk(interpreter: &Interpreter, seed: u64) -> Vec<End> {
    let random = &mut Random::new(seed);
    let model = interpreter.model();
    let mut current = match interpreter.start(0, 0).end {
        End::Done(state) => state,
        end => return vec![end],
    };
    let mut ends = Vec::new();
    for _ in 0..40 {
        let rule = random.below(model.rules.len());
        let count = crate::instance::count(model, &model.rules[rule].parameters);
        let count = count.expect("random programs have few instances");
        let run = interpreter.run_rule(&current, rule, random.below(count as usize) as u64);
        if let End::Done(state) = &run.end {
            current = state.clone();
        }
        ends.push(run.end);
    }
    ends
}

const KINDS: [RuntimeErrorKind; 12] = [
    RuntimeErrorKind::Undefined,
    RuntimeErrorKind::IndexOutside,
    RuntimeErrorKind::ValueOutside,
    RuntimeErrorKind::NotAMember,
    RuntimeErrorKind::DivisionByZero,
    RuntimeErrorKind::Overflow,
    RuntimeErrorKind::ErrorStatement,
    RuntimeErrorKind::AssertionFailed,
    RuntimeErrorKind::MultisetFull,
    RuntimeErrorKind::PositionEmpty,
    RuntimeErrorKind::LoopLimit,
    RuntimeErrorKind::CallLimit,
];

/// How many runs of random programs in random states end otherwise if something about the meaning of
/// the program is changed.
fn changed_runs(programs: u64, change: impl Fn(&mut Model)) -> usize {
    let mut changed = 0;
    for seed in 0..programs {
        let model = model(seed);
        let mut other = (*model).clone();
        change(&mut other);
        let both = [model, Arc::new(other)];
        let mut both =
            both.map(|model| Interpreter::new(model).expect("random programs are small"));
        let random = &mut Random::new(seed);
        for _ in 0..5 {
            let state = state(both[0].model(), random);
            let [one, two] = &mut both;
            let bytes = state.encode(one.model(), one.layout());
            let mut ends = [Successors::new(bytes.len()), Successors::new(bytes.len())];
            one.expand(&bytes, &mut ends[0]);
            two.expand(&bytes, &mut ends[1]);
            changed += usize::from(ends[0].firings != ends[1].firings);
        }
    }
    changed
}

#[test]
fn undefined_members_and_recursion_are_often_what_matters() {
    let undefined = changed_runs(200, |model| model.undefined_members = false);
    assert!(undefined >= 200, "in {undefined} of 1000 states undefined is compared");
    let recursive =
        (0..200).filter(|&seed| model(seed).functions.iter().any(|function| function.is_recursive));
    let recursive = recursive.count();
    assert!(recursive >= 50, "{recursive} of 200 programs have functions that call themselves");
    let limited = changed_runs(200, |model| model.call_limit = 1);
    assert!(limited >= 50, "in {limited} of 1000 states a function calls itself");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_machine_on_bytes_agrees_with_single_runs_on_values(seed in 0u64..1_000_000) {
        let mut interpreter = Interpreter::new(model(seed)).expect("random programs are small");
        let model = Arc::clone(interpreter.model());
        let layout = Arc::clone(interpreter.layout());
        let random = &mut Random::new(seed);
        for _ in 0..5 {
            let state = state(&model, random);
            let bytes = state.encode(&model, &layout);
            let mut out = Successors::new(bytes.len());
            interpreter.expand(&bytes, &mut out);
            for (number, firing) in out.firings.iter().enumerate() {
                let run = interpreter.run_rule(&state, firing.rule as usize, firing.instance);
                if let End::Done(after) = run.end {
                    let decoded = State::decode(&model, &layout, out.state(number));
                    prop_assert_eq!(decoded, Ok(after));
                } else {
                    prop_assert!(!matches!(run.end, End::Disabled));
                }
            }
            if let Check::Broken(property) = interpreter.check(&bytes) {
                let breach = interpreter.check_property(&state, property as usize);
                prop_assert!(matches!(breach, Ok(Some(_))));
            }
        }
    }
}

/// Everything a typed model is made of.
const NODES: [&str; 65] = [
    "boolean",
    "range",
    "enumeration",
    "scalarset",
    "union",
    "record",
    "array",
    "multiset",
    "function",
    "procedure",
    "by value",
    "by reference",
    "undefined argument",
    "ruleset",
    "ruleset range",
    "choose",
    "alias around a rule",
    "alias of a place",
    "alias of a value",
    "guard",
    "no guard",
    "invariant",
    "assumption",
    "cover property",
    "liveness",
    "global",
    "local",
    "field",
    "index",
    "element",
    "constant",
    "read",
    "undefined",
    "not",
    "negate",
    "complement",
    "binary",
    "same",
    "conditional",
    "forall",
    "exists",
    "quantified range",
    "call",
    "isundefined",
    "ismember",
    "convert",
    "multiset count",
    "assign",
    "if",
    "switch",
    "for",
    "while",
    "alias",
    "call statement",
    "return",
    "return value",
    "clear",
    "undefine",
    "error",
    "assert",
    "assume",
    "put",
    "add",
    "remove",
    "remove where",
];

fn visit_model(model: &Model, see: &mut dyn FnMut(&'static str)) {
    for ty in &model.types {
        see(match &ty.kind {
            TypeKind::Simple(Simple::Boolean) => "boolean",
            TypeKind::Simple(Simple::Range { .. }) => "range",
            TypeKind::Simple(Simple::Integer) => "integer",
            TypeKind::Simple(Simple::Enumeration(_)) => "enumeration",
            TypeKind::Simple(Simple::Scalarset(_)) => "scalarset",
            TypeKind::Simple(Simple::Union(_)) => "union",
            TypeKind::Simple(Simple::Position { .. }) => "position",
            TypeKind::Record(_) => "record",
            TypeKind::Array { .. } => "array",
            TypeKind::Multiset { .. } => "multiset",
        });
    }
    for function in &model.functions {
        see(if function.result.is_some() { "function" } else { "procedure" });
        visit_block(&function.body, see);
    }
    for rule in model.rules.iter().chain(&model.start_states) {
        visit_parameters(&rule.parameters, see);
        see(if rule.guard.is_some() { "guard" } else { "no guard" });
        rule.guard.iter().for_each(|guard| visit(guard, see));
        visit_block(&rule.body, see);
    }
    for property in &model.properties {
        visit_parameters(&property.parameters, see);
        see(match property.kind {
            PropertyKind::Invariant => "invariant",
            PropertyKind::Assumption => "assumption",
            PropertyKind::Cover => "cover property",
            PropertyKind::Liveness => "liveness",
        });
        visit(&property.condition, see);
    }
}

fn visit_parameters(parameters: &[Parameter], see: &mut dyn FnMut(&'static str)) {
    for parameter in parameters {
        match parameter {
            Parameter::Each(binder) => {
                see(match &binder.domain {
                    Domain::Type(_) => "ruleset",
                    Domain::Range { .. } => "ruleset range",
                    Domain::Multiset(_) => "choose",
                });
                visit_domain(&binder.domain, see);
            }
            Parameter::Alias { target, .. } => {
                see("alias around a rule");
                visit_target(target, see);
            }
        }
    }
}

fn visit_target(target: &AliasTarget, see: &mut dyn FnMut(&'static str)) {
    match target {
        AliasTarget::Place(place) => {
            see("alias of a place");
            visit_place(place, see);
        }
        AliasTarget::Value(value) => {
            see("alias of a value");
            visit(value, see);
        }
    }
}

fn visit_domain(domain: &Domain, see: &mut dyn FnMut(&'static str)) {
    match domain {
        Domain::Type(_) => {}
        Domain::Range { from, to, by } => [from, to, by].into_iter().for_each(|e| visit(e, see)),
        Domain::Multiset(place) => visit_place(place, see),
    }
}

fn visit_place(place: &Place, see: &mut dyn FnMut(&'static str)) {
    see(match place.base {
        Base::Global(_) => "global",
        Base::Local(_) => "local",
    });
    for step in &place.steps {
        match step {
            Step::Field(_) => see("field"),
            Step::Index(index) => {
                see("index");
                visit(index, see);
            }
            Step::Element(position) => {
                see("element");
                visit(position, see);
            }
        }
    }
}

fn visit_call(call: &Call, see: &mut dyn FnMut(&'static str)) {
    for argument in &call.arguments {
        match argument {
            Argument::Value(value) => {
                see(match value.kind {
                    ExpressionKind::Undefined => "undefined argument",
                    _ => "by value",
                });
                visit(value, see);
            }
            Argument::Reference(place) => {
                see("by reference");
                visit_place(place, see);
            }
        }
    }
}

fn visit(expression: &Expression, see: &mut dyn FnMut(&'static str)) {
    match &expression.kind {
        ExpressionKind::Constant(_) => see("constant"),
        ExpressionKind::Read(place) => {
            see("read");
            visit_place(place, see);
        }
        ExpressionKind::Undefined => see("undefined"),
        ExpressionKind::Not(operand) => {
            see("not");
            visit(operand, see);
        }
        ExpressionKind::Negate(operand) => {
            see("negate");
            visit(operand, see);
        }
        ExpressionKind::Complement(operand) => {
            see("complement");
            visit(operand, see);
        }
        ExpressionKind::Binary(_, left, right) => {
            see("binary");
            visit(left, see);
            visit(right, see);
        }
        ExpressionKind::Same { left, right, .. } => {
            see("same");
            visit(left, see);
            visit(right, see);
        }
        ExpressionKind::Conditional(condition, yes, no) => {
            see("conditional");
            [condition, yes, no].into_iter().for_each(|e| visit(e, see));
        }
        ExpressionKind::Quantified { all, binder, condition } => {
            see(if *all { "forall" } else { "exists" });
            if matches!(binder.domain, Domain::Range { .. }) {
                see("quantified range");
            }
            visit_domain(&binder.domain, see);
            visit(condition, see);
        }
        ExpressionKind::Call(call) => {
            see("call");
            visit_call(call, see);
        }
        ExpressionKind::IsUndefined(place) => {
            see("isundefined");
            visit_place(place, see);
        }
        ExpressionKind::IsMember { value, .. } => {
            see("ismember");
            visit(value, see);
        }
        ExpressionKind::Convert(value) => {
            see("convert");
            visit(value, see);
        }
        ExpressionKind::MultisetCount { binder, condition } => {
            see("multiset count");
            visit_domain(&binder.domain, see);
            visit(condition, see);
        }
    }
}

fn visit_block(statements: &[Statement], see: &mut dyn FnMut(&'static str)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign(assign) => {
                see("assign");
                visit_place(&assign.target, see);
                visit(&assign.value, see);
            }
            StatementKind::If { branches, otherwise } => {
                see("if");
                for (condition, body) in branches {
                    visit(condition, see);
                    visit_block(body, see);
                }
                visit_block(otherwise, see);
            }
            StatementKind::Switch { value, cases, otherwise } => {
                see("switch");
                visit(value, see);
                for (values, body) in cases {
                    values.iter().for_each(|value| visit(value, see));
                    visit_block(body, see);
                }
                visit_block(otherwise, see);
            }
            StatementKind::For { binder, body, .. } => {
                see("for");
                visit_domain(&binder.domain, see);
                visit_block(body, see);
            }
            StatementKind::While { condition, body } => {
                see("while");
                visit(condition, see);
                visit_block(body, see);
            }
            StatementKind::Alias { target, body, .. } => {
                see("alias");
                visit_target(target, see);
                visit_block(body, see);
            }
            StatementKind::Call(call) => {
                see("call statement");
                visit_call(call, see);
            }
            StatementKind::Return(None) => see("return"),
            StatementKind::Return(Some(value)) => {
                see("return value");
                visit(value, see);
            }
            StatementKind::Clear(place) => {
                see("clear");
                visit_place(place, see);
            }
            StatementKind::Undefine(place) => {
                see("undefine");
                visit_place(place, see);
            }
            StatementKind::Error(_) => see("error"),
            StatementKind::Assert { condition, .. } => {
                see("assert");
                visit(condition, see);
            }
            StatementKind::Assume(condition) => {
                see("assume");
                visit(condition, see);
            }
            StatementKind::Cover { condition, .. } => {
                see("cover");
                visit(condition, see);
            }
            StatementKind::Put(put) => {
                see("put");
                if let Put::Value(value) = put {
                    visit(value, see);
                }
            }
            StatementKind::MultisetAdd { value, multiset } => {
                see("add");
                visit(value, see);
                visit_place(multiset, see);
            }
            StatementKind::MultisetRemove { position, multiset } => {
                see("remove");
                visit(position, see);
                visit_place(multiset, see);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                see("remove where");
                visit_domain(&binder.domain, see);
                visit(condition, see);
            }
        }
    }
}
