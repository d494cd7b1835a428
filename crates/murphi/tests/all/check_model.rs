//! What checked programs look like as typed models.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tribunal_murphi::check::{Dialect, Options, Reading, load};
use tribunal_murphi::instance;
use tribunal_murphi::interpret::{End, Interpreter};
use tribunal_murphi::ir::{
    AliasTarget, Domain, Expression, ExpressionKind, Model, Parameter, Simple, Statement,
    StatementKind, Storage, TypeKind,
};
use tribunal_murphi::machine::{Machine, Outcome, Successors};
use tribunal_murphi::source::Source;

fn model_with(text: &str, options: &Options) -> Model {
    let source = Source { name: "model.m".to_owned(), text: text.to_owned() };
    match load(source.clone(), options) {
        Ok(checked) => checked.model,
        Err(found) => {
            let said: String = found.iter().map(|it| it.render(&source, false)).collect();
            panic!("{said}")
        }
    }
}

fn model(text: &str) -> Model {
    model_with(text, &Options::default())
}

fn assigned(statement: &Statement) -> &Expression {
    match &statement.kind {
        StatementKind::Assign(assign) => &assign.value,
        other => panic!("{other:?} is no assignment"),
    }
}

fn constant(expression: &Expression) -> i64 {
    match expression.kind {
        ExpressionKind::Constant(value) => value,
        ref other => panic!("{other:?} is no constant"),
    }
}

#[test]
fn rulesets_are_flattened_into_their_rules_outermost_first() {
    let model = model(
        "type Node: scalarset(2);
         var x: array [Node] of array [0..3] of boolean;
         ruleset n: Node do
           alias row: x[n] do
             ruleset i := 0 to 2 by 2 do
               startstate begin row[i] := true; end;
               rule \"flip\" row[i] ==> var y: boolean; begin y := row[i]; row[i] := !y; end;
               invariant row[i];
             end;
           end;
         end;",
    );
    let rule = &model.rules[0];
    let names: Vec<&str> = rule.frame.locals.iter().map(|local| local.name.as_str()).collect();
    assert_eq!(names, ["n", "row", "i", "y"]);
    assert_eq!(rule.frame.locals[1].storage, Storage::Reference);
    assert!(matches!(&rule.parameters[..], [
        Parameter::Each(node),
        Parameter::Alias { target: AliasTarget::Place(_), .. },
        Parameter::Each(index),
    ] if matches!(node.domain, Domain::Type(_)) && matches!(index.domain, Domain::Range { .. })));
    assert_eq!(instance::count(&model, &rule.parameters), Some(4));
    assert_eq!(model.start_states[0].parameters.len(), 3);
    assert_eq!(model.properties[0].parameters.len(), 3);
    assert_eq!(model.start_states[0].frame.locals.len(), 3, "without the locals of other rules");
}

#[test]
fn what_has_no_name_is_numbered_from_0_by_kind() {
    let model = model(
        "startstate begin end; startstate \"two\" begin end; startstate begin end;
         rule begin end; rule \"named\" begin end; rule begin end;
         invariant true; invariant true; cover true;",
    );
    let names = |rules: &[tribunal_murphi::ir::Rule]| -> Vec<String> {
        rules.iter().map(|rule| rule.name.clone()).collect()
    };
    assert_eq!(names(&model.start_states), ["Startstate 0", "two", "Startstate 1"]);
    assert_eq!(names(&model.rules), ["Rule 0", "named", "Rule 1"]);
    let properties: Vec<&str> = model.properties.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(properties, ["Invariant 0", "Invariant 1", "Cover 0"]);
}

#[test]
fn constants_are_folded_and_can_be_chosen() {
    let text = "const N: 3; Check: N > 2;
                var x: 0..N; b: boolean;
                startstate begin x := (N - 1) * 2 / N; b := Check & !(N = 4); end; rule begin end;";
    let body = &model(text).start_states[0].body;
    assert_eq!((constant(assigned(&body[0])), constant(assigned(&body[1]))), (1, 1));
    let constants = vec![("N".to_owned(), "2".to_owned())];
    let chosen = model_with(text, &Options { constants, ..Options::default() });
    assert!(matches!(
        chosen.kind(chosen.globals[0].ty),
        TypeKind::Simple(Simple::Range { low: 0, high: 2 })
    ));
    assert_eq!(constant(assigned(&chosen.start_states[0].body[1])), 0);
}

#[test]
fn an_operation_without_a_value_is_left_for_the_run() {
    let model = model(
        "const N: 0; var x: 0..3;
         startstate begin if N > 0 then x := 3 / N; else x := 0; end; end; rule begin end;",
    );
    let StatementKind::If { branches, .. } = &model.start_states[0].body[0].kind else {
        panic!("an if remains an if");
    };
    assert!(matches!(assigned(&branches[0].1[0]).kind, ExpressionKind::Binary(..)));
}

#[test]
fn members_of_unions_are_converted() {
    let model = model(
        "type Node: scalarset(2); Home: enum {Directory, Memory}; Any: union {Node, Home};
         var who: Any; node: Node;
         startstate begin who := Memory; end;
         ruleset n: Node do
           rule who = n ==> begin node := who; who := n; end;
         end;",
    );
    let first = assigned(&model.start_states[0].body[0]);
    assert_eq!((constant(first), first.ty), (3, model.globals[0].ty), "after both nodes");
    let Some(ExpressionKind::Binary(_, left, right)) =
        model.rules[0].guard.as_ref().map(|guard| &guard.kind)
    else {
        panic!("a comparison remains one");
    };
    assert!(matches!(left.kind, ExpressionKind::Read(_)));
    assert!(matches!(right.kind, ExpressionKind::Convert(_)));
    // An undefined union is copied as undefined before it would be converted.
    let StatementKind::If { branches, otherwise } = &model.rules[0].body[0].kind else {
        panic!("a conversion that copies asks first");
    };
    assert!(matches!(branches[0].0.kind, ExpressionKind::IsUndefined(_)));
    assert!(matches!(assigned(&otherwise[0]).kind, ExpressionKind::Convert(_)));
    assert!(matches!(assigned(&model.rules[0].body[1]).kind, ExpressionKind::Convert(_)));
}

#[test]
fn undefined_is_copied_in_one_dialect_and_not_in_the_other() {
    let text = "var x, y: 0..3; a: array [0..3] of 0..3;
                startstate begin x := y; x := a[1]; x := y + 0; for i: 0..3 do x := i; end; end;
                rule begin end;";
    let copies = |dialect| -> Vec<bool> {
        let model = model_with(text, &Options { dialect, ..Options::default() });
        let mut found = Vec::new();
        for statement in &model.start_states[0].body {
            let inner = match &statement.kind {
                StatementKind::For { body, .. } => &body[0],
                _ => statement,
            };
            if let StatementKind::Assign(assign) = &inner.kind {
                found.push(assign.copies_undefined);
            }
        }
        found
    };
    assert_eq!(copies(Dialect::CMurphi), [true, true, false, false]);
    assert_eq!(copies(Dialect::Rumur), [false; 4]);
}

#[test]
fn the_other_dialect_clears_scalarsets() {
    let text =
        "type Proc: scalarset(2); var p: Proc; startstate begin clear p; end; rule begin end;";
    let options = Options { dialect: Dialect::Rumur, ..Options::default() };
    let source = Source { name: "model.m".to_owned(), text: text.to_owned() };
    assert_eq!(load(source, &options).expect("it is a program").warnings.len(), 1);
}

#[test]
fn callees_come_before_their_callers() {
    let model = model(
        "var x: 0..7;
         procedure outer(); begin middle(); inner(); end;
         procedure middle(); begin inner(); end;
         procedure inner(); begin x := 0; end;
         startstate begin outer(); end; rule begin middle(); end;",
    );
    let names: Vec<&str> = model.functions.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["inner", "middle", "outer"]);
    for (index, function) in model.functions.iter().enumerate() {
        for statement in &function.body {
            if let StatementKind::Call(call) = &statement.kind {
                assert!((call.function.0 as usize) < index, "{} calls ahead", function.name);
            }
        }
    }
    let StatementKind::Call(call) = &model.rules[0].body[0].kind else {
        panic!("a call remains a call");
    };
    assert_eq!(model.functions[call.function.0 as usize].name, "middle");
}

#[test]
fn integers_in_locals_have_a_type_with_a_layout() {
    let model = model(
        "var x: 0..7;
         startstate begin x := 0; end;
         rule begin alias next: x + 1 do for i := x to next do x := i; end; end; end;",
    );
    for local in &model.rules[0].frame.locals {
        assert_ne!(local.ty, Model::INTEGER, "{}", local.name);
    }
}

#[test]
fn many_functions_are_no_problem_but_long_chains_of_calls_are_refused() {
    let program = |functions: usize, chain: usize| {
        let mut text = "var x: 0..1;\nstartstate begin x := 0; end;\n".to_owned();
        for number in 0..functions {
            text += &format!("function f{number}(): 0..1; begin ");
            text += &match number % chain {
                0 => "return x; end;\n".to_owned(),
                _ => format!("return f{}(); end;\n", number - 1),
            };
        }
        text + &format!("rule f{}() = 0 ==> begin x := 1; end;\n", functions - 1)
    };
    assert_eq!(model(&program(2000, 100)).functions.len(), 2000);
    let source = Source { name: "model.m".to_owned(), text: program(101, 101) };
    let found = load(source, &Options::default()).expect_err("101 calls are too many");
    assert_eq!(found[0].message, "functions call each other more than 100 deep");
}

#[test]
fn too_many_bound_names_are_refused() {
    let names: Vec<String> = (0..300).map(|number| format!("a{number}: x")).collect();
    let text = format!(
        "var x: boolean; startstate begin end; rule begin alias {} do end; end;",
        names.join("; ")
    );
    let source = Source { name: "model.m".to_owned(), text };
    let found = load(source, &Options::default()).expect_err("300 are too many");
    assert_eq!(found[0].message, "more than 256 names are bound around this");
}

#[test]
fn locals_that_are_too_large_together_are_refused() {
    let chain = |length: usize| {
        let mut text = String::from("type B: array [0..999999] of 0..255; var x: boolean;");
        for number in 0..length {
            let call = if number > 0 { format!("f{}();", number - 1) } else { String::new() };
            text += &format!("procedure f{number}(); var b: B; begin {call} end;");
        }
        text + &format!("startstate begin x := true; f{}(); end; rule true ==> end;", length - 1)
    };
    // Each takes two bytes an element.
    assert_eq!(model(&chain(8)).functions.len(), 8);
    let source = Source { name: "model.m".to_owned(), text: chain(9) };
    let found = load(source, &Options::default()).expect_err("9 megabytes of two bytes each");
    let message =
        "its local variables and those of the functions that it calls take 18000000 bytes";
    assert_eq!(found[0].message, message);
}

#[test]
fn deep_nests_are_answered_in_a_small_stack() {
    let run = || {
        for depth in [50, 150, 190, 199, 250, 100_000] {
            let condition = format!("{}x{}", "(!".repeat(depth), ")".repeat(depth));
            let body = format!("{}x := true;{}", "if x then ".repeat(depth), " end;".repeat(depth));
            let text = format!(
                "var x: boolean; startstate begin x := true; end;
                 rule {condition} ==> begin {body} end;"
            );
            let source = Source { name: "model.m".to_owned(), text };
            let _ = load(source, &Options::default());
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("a thread can be started").join().expect("there is room on the stack");
}

#[test]
fn accepted_programs_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check/accepted");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of models is part of the tests") {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        let model = model(&fs::read_to_string(&path).unwrap());
        let machine = Interpreter::new(Arc::new(model)).expect("it can be run");
        let (states, failures) = explore(machine);
        if states == 0 || failures > 0 {
            wrong.push(format!("{name}: {states} states, {failures} failures"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// How many states are found, up to a few hundred, and how many rules failed on the way.
fn explore(mut machine: Interpreter) -> (usize, usize) {
    let size = machine.layout().size as usize;
    let mut found = Successors::new(size);
    let (mut seen, mut open, mut failures) = (BTreeSet::new(), VecDeque::new(), 0);
    Machine::start(&mut machine, &mut found);
    loop {
        for (index, firing) in found.firings.iter().enumerate() {
            match firing.outcome {
                Outcome::Done => {
                    let state = found.state(index).to_vec();
                    if seen.insert(state.clone()) {
                        open.push_back(state);
                    }
                }
                Outcome::Excluded => {}
                Outcome::Failed | Outcome::GuardFailed => failures += 1,
            }
        }
        let Some(state) = open.pop_front().filter(|_| seen.len() < 300) else {
            return (seen.len(), failures);
        };
        machine.check(&state);
        found.clear();
        machine.expand(&state, &mut found);
    }
}

fn whole(dialect: Dialect) -> Options {
    Options { dialect, reading: Reading::Whole, ..Options::default() }
}

/// The warnings of a program that is read whole, or its first error.
fn remarks(text: &str, options: &Options) -> Result<Vec<String>, String> {
    let source = Source { name: "model.m".to_owned(), text: text.to_owned() };
    match load(source, options) {
        Ok(checked) => Ok(checked.warnings.into_iter().map(|warning| warning.message).collect()),
        Err(found) => Err(found.into_iter().next().map(|it| it.message).unwrap_or_default()),
    }
}

#[test]
fn a_program_without_rules_or_start_state_is_run_with_a_warning_and_not_changed() {
    let no_rules = "var x: 0..1; startstate begin x := 0; end;";
    let no_start = "var x: 0..1; rule true ==> begin x := 0; end;";
    for (text, message) in
        [(no_rules, "the program has no rules"), (no_start, "the program has no start state")]
    {
        assert_eq!(remarks(text, &whole(Dialect::CMurphi)), Ok(vec![message.to_owned()]));
        assert_eq!(remarks(text, &Options::default()), Err(message.to_owned()));
    }
}

#[test]
fn recursion_and_priorities_are_run_and_not_changed() {
    let recursion = "var x: 0..1; procedure f(); begin f(); end;
                     startstate begin x := 0; end; rule true ==> begin f(); end;";
    let priority = "var x: 0..1; startstate begin x := 0; end;
                    rule 3 \"low\" true ==> begin x := 1; end;";
    for (text, message) in [
        (recursion, "recursion is not supported: `f` calls itself"),
        (priority, "priorities of rules are not supported"),
    ] {
        assert_eq!(remarks(text, &whole(Dialect::CMurphi)), Ok(Vec::new()));
        assert_eq!(remarks(text, &Options::default()), Err(message.to_owned()));
    }
    let model = model_with(priority, &whole(Dialect::CMurphi));
    assert_eq!(model.rules[0].priority, 3);
    let model = model_with(recursion, &whole(Dialect::CMurphi));
    assert!(model.functions[0].is_recursive);
}

#[test]
fn a_parameter_does_not_hide_the_type_of_the_result() {
    let text = "type t: 0..1; var x: t; function f(t: boolean): t; begin return 1; end;
                startstate begin x := f(true); end; rule true ==> begin end;";
    assert_eq!(model(text).functions[0].parameters, 1);
}

#[test]
fn numbers_that_begin_with_0_are_octal_in_rumur() {
    let text = "var x: 0..20; startstate begin x := 010; end; rule true ==> begin end;";
    let value =
        |options: &Options| constant(assigned(&model_with(text, options).start_states[0].body[0]));
    assert_eq!(value(&whole(Dialect::CMurphi)), 10);
    assert_eq!(value(&whole(Dialect::Rumur)), 8);
    assert_eq!(value(&Options::default()), 10);
    let strict = Options { dialect: Dialect::Rumur, ..Options::default() };
    assert_eq!(remarks(text, &strict), Err("octal numbers are not supported here".to_owned()));
    let wrong = remarks(&text.replace("010", "089"), &whole(Dialect::Rumur));
    assert_eq!(wrong, Err("`089` is not an octal number".to_owned()));
}

#[test]
fn a_range_without_a_step_counts_down_in_rumur() {
    let text = "var x: 0..99999; low: 0..9;
                startstate begin
                  x := 0; low := 1;
                  for i := 3 to low do x := x * 10 + i; end;
                  for i := 9 to 8 do x := x * 10 + i; end;
                end;
                rule true ==> begin end;";
    let left = |dialect| {
        let model = Arc::new(model_with(text, &whole(dialect)));
        let interpreter = Interpreter::new(model).expect("it is small");
        match interpreter.start(0, 0).end {
            End::Done(state) => state.listing(interpreter.model()),
            end => panic!("{end:?}"),
        }
    };
    assert_eq!(left(Dialect::CMurphi)[0], ("x".to_owned(), "0".to_owned()));
    assert_eq!(left(Dialect::Rumur)[0], ("x".to_owned(), "32198".to_owned()));
}

#[test]
fn a_chain_of_too_many_calls_is_shown_by_its_ends() {
    let text = "var x: 0..1; procedure f(); begin g(); end; procedure g(); begin f(); end;
                startstate begin f(); end; rule true ==> begin end;";
    let model = Arc::new(model_with(text, &whole(Dialect::CMurphi)));
    let interpreter = Interpreter::new(model).expect("it is small");
    let End::Failed(error) = interpreter.start(0, 0).end else {
        panic!("it does not end");
    };
    assert_eq!(error.calls.len(), 1000);
    assert!(error.message.contains("`f`") && error.message.contains("1000 calls"), "{error}");
    let shown = error.diagnostic().related;
    assert_eq!(shown.len(), 6);
    let between = shown.iter().filter(|(_, text)| text.contains("994 more calls"));
    assert_eq!(between.count(), 1);
}
