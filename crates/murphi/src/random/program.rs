//! Random programs, as text: declarations, functions, start states, rules and properties.

use super::Random;
use super::expression::{Function, MOST_FURTHER_CALLS, Variable, Writer};
use super::statement::Context;
use super::types::{Kind, Ty};

/// Slots that all state variables together may have, about.
const GREATEST_STATE: usize = 60;

/// Writes a program.
pub(super) fn write(random: Random) -> String {
    let mut writer = Writer::new(random);
    let mut lines = vec!["type".to_owned()];
    lines.extend(indented(writer.types.declarations()));
    lines.push("var".to_owned());
    lines.extend(indented(writer.globals()));
    for _ in 0..writer.random.below(5) {
        lines.extend(writer.function());
    }
    for number in 0..1 + writer.random.below(2) {
        lines.extend(writer.start_state(number));
    }
    for number in 0..2 + writer.random.below(5) {
        lines.extend(writer.rule(number));
    }
    for number in 0..1 + writer.random.below(4) {
        lines.extend(writer.property(number));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn indented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

impl Writer {
    fn globals(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut slots = 0;
        // One of each type, then some more.
        let mut types = self.types.all();
        for _ in 0..3 {
            types.push(types[self.random.below(types.len())]);
        }
        for ty in types {
            if slots < GREATEST_STATE {
                slots += self.types.slots(ty);
                let name = self.fresh("v");
                lines.push(format!("{name}: {};", self.types.name(ty)));
                self.declare(name, ty, true);
            }
        }
        lines
    }

    fn function(&mut self) -> Vec<String> {
        let name = self.fresh("f");
        let types = self.types.all();
        let result = match self.random.chance(70) {
            true => self.random.pick(&types).copied(),
            false => None,
        };
        let mut parameters = Vec::new();
        for _ in 0..self.random.below(4) {
            parameters.push((types[self.random.below(types.len())], self.random.chance(40)));
        }
        let names: Vec<String> = parameters.iter().map(|_| self.fresh("p")).collect();
        let by_reference = parameters.iter().any(|&(_, by_reference)| by_reference);
        let known = self.functions.len();
        // Known in its own body: it calls itself.
        let calls_itself = self.random.chance(25);
        let itself = calls_itself.then(|| {
            let (name, parameters) = (name.clone(), parameters.clone());
            Function { name, parameters, result, pure: !by_reference, calls_itself: true }
        });
        self.functions.extend(itself.clone());
        self.changed = false;
        let body = self.scoped(|writer| {
            for (name, &(ty, by_reference)) in names.iter().zip(&parameters) {
                writer.declare(name.clone(), ty, by_reference);
            }
            let outer = writer.variables.len();
            let mut lines = writer.locals();
            lines.push("begin".to_owned());
            let locals = writer.variables[outer..].to_vec();
            for local in &locals {
                lines.extend(indented(writer.initialise(&local.text, local.ty)));
            }
            // First of all: what follows often ends the run.
            let call = itself.and_then(|itself| writer.call_with(&itself, "further - 1", 1));
            lines.extend(call.map(|call| format!("  if further > 0 then {call}; end;")));
            let count = 1 + writer.random.below(3);
            let context = Context { depth: 2, looping: false, result };
            lines.extend(indented(writer.statements(count, context)));
            if let Some(ty) = result {
                lines.push(format!("  {}", writer.last_return(ty)));
            }
            lines
        });
        let heading = names.iter().zip(&parameters).map(|(name, &(ty, by_reference))| {
            let var = if by_reference { "var " } else { "" };
            format!("{var}{name}: {}", self.types.name(ty))
        });
        let further = calls_itself.then(|| format!("further: 0..{MOST_FURTHER_CALLS}"));
        let heading = heading.chain(further).collect::<Vec<_>>().join("; ");
        let (keyword, result_type) = match result {
            Some(ty) => ("function", format!(": {}", self.types.name(ty))),
            None => ("procedure", String::new()),
        };
        let mut lines = vec![format!("{keyword} {name}({heading}){result_type};")];
        lines.extend(body);
        lines.push("end;".to_owned());
        let pure = !self.changed && !by_reference;
        self.functions.truncate(known);
        self.functions.push(Function { name, parameters, result, pure, calls_itself });
        lines
    }

    /// A `return` that is always reached but in a few functions.
    fn last_return(&mut self, ty: Ty) -> String {
        let value = match self.value(ty, 2).or_else(|| self.place_of(ty, false).map(|p| p.text)) {
            Some(value) => value,
            None => self.default_variable(ty),
        };
        match self.random.chance(3) {
            true => format!("if {} then return {value}; end;", self.condition(1)),
            false => format!("return {value};"),
        }
    }

    /// Some variable of a type, however deep: every type has a state variable unless the state
    /// was full.
    fn default_variable(&mut self, ty: Ty) -> String {
        (0..100)
            .find_map(|_| self.place_of(ty, false))
            .map_or_else(|| "undefined".to_owned(), |place| place.text)
    }

    fn locals(&mut self) -> Vec<String> {
        let types = self.types.all();
        let mut lines = Vec::new();
        for _ in 0..self.random.below(3) {
            let ty = types[self.random.below(types.len())];
            let name = self.fresh("l");
            if lines.is_empty() {
                lines.push("var".to_owned());
            }
            lines.push(format!("  {name}: {};", self.types.name(ty)));
            self.declare(name, ty, true);
        }
        lines
    }

    /// The statements of a rule, from `var` to `end`, after some initialisations. Locals are
    /// mostly given a value first.
    fn body(&mut self, initialised: &[Variable]) -> Vec<String> {
        self.scoped(|writer| {
            let outer = writer.variables.len();
            let mut lines = writer.locals();
            let locals = writer.variables[outer..].to_vec();
            lines.push("begin".to_owned());
            for (variables, percent) in [(initialised, 98), (&locals, 85)] {
                for variable in variables {
                    if writer.random.chance(percent) {
                        lines.extend(indented(writer.initialise(&variable.text, variable.ty)));
                    }
                }
            }
            lines.extend(writer.recursion());
            let count = 1 + writer.random.below(5);
            let context = Context { depth: 3, looping: false, result: None };
            lines.extend(indented(writer.statements(count, context)));
            lines.push("end;".to_owned());
            lines
        })
    }

    /// A call of a function that calls itself, mostly, if there is one: left to chance, hardly any
    /// run would come to it.
    fn recursion(&mut self) -> Option<String> {
        let recursive = self.functions.iter().filter(|function| function.calls_itself);
        let recursive: Vec<Function> = recursive.cloned().collect();
        let function = self.random.pick(&recursive)?.clone();
        let call = self.call(&function, 1)?;
        self.random.chance(70).then(|| format!("  {call};"))
    }

    fn start_state(&mut self, number: usize) -> Vec<String> {
        let globals = self.variables.clone();
        self.scoped(|writer| {
            // A member of each scalarset, to have something to begin with.
            let scalarsets = writer.types.such_that(|kind| matches!(kind, Kind::Scalarset(_)));
            let mut lines = Vec::new();
            for &ty in &scalarsets {
                let name = writer.fresh("n");
                lines.push(format!("ruleset {name}: {} do", writer.types.name(ty)));
                writer.declare(name, ty, false);
            }
            lines.push(format!("startstate \"s{number}\""));
            lines.extend(writer.body(&globals));
            lines.extend(scalarsets.iter().map(|_| "end;".to_owned()));
            lines
        })
    }

    fn rule(&mut self, number: usize) -> Vec<String> {
        self.wrapped(3, |writer| {
            writer.only_pure = true;
            let guard = match writer.random.below(4) {
                0 => String::new(),
                1 => format!("{} ==>", writer.condition(3)),
                _ => format!("({} | {}) ==>", writer.condition(1), writer.condition(2)),
            };
            writer.only_pure = false;
            let mut lines = vec![format!("rule \"r{number}\" {guard}")];
            lines.extend(writer.body(&[]));
            lines
        })
    }

    fn property(&mut self, number: usize) -> Vec<String> {
        self.wrapped(2, |writer| {
            writer.only_pure = true;
            let (keyword, condition) = match writer.random.below(6) {
                0 => ("cover", writer.condition(3)),
                1 => ("assume", format!("({} | {})", writer.condition(1), writer.condition(2))),
                2 => ("liveness", writer.condition(2)),
                _ => ("invariant", format!("({} | {})", writer.condition(1), writer.condition(2))),
            };
            writer.only_pure = false;
            vec![format!("{keyword} \"p{number}\" {condition};")]
        })
    }

    /// Puts rulesets, `choose` and aliases around a rule, at most so many.
    fn wrapped(
        &mut self,
        most: usize,
        write: impl FnOnce(&mut Self) -> Vec<String>,
    ) -> Vec<String> {
        let layers = self.random.below(most + 1);
        self.scoped(|writer| {
            let mut opened = Vec::new();
            for _ in 0..layers {
                opened.extend(writer.layer());
            }
            let mut lines = opened.clone();
            lines.extend(write(writer));
            lines.extend(opened.iter().map(|_| "end;".to_owned()));
            lines
        })
    }

    fn choose(&mut self) -> Option<String> {
        let multiset = self.multiset(true)?;
        let name = self.fresh("c");
        self.declare_position(&name, &multiset);
        Some(format!("choose {name}: {} do", multiset.text))
    }

    fn layer(&mut self) -> Option<String> {
        match self.random.below(5) {
            0 | 4 => {
                // The names that are declared here are used in guards and properties.
                self.only_pure = true;
                let choose = self.choose();
                self.only_pure = false;
                choose
            }
            1 => {
                let name = self.fresh("a");
                self.only_pure = true;
                let alias = self.declare_alias(&name);
                self.only_pure = false;
                Some(format!("alias {name}: {} do", alias?))
            }
            2 => {
                let name = self.fresh("n");
                let from = self.random.between(-1, 2);
                let (to, by) = (from + self.random.between(0, 3), 1 + self.random.below(2));
                self.declare(name.clone(), super::types::Types::INTEGER, false);
                Some(format!("ruleset {name} := {from} to {to} by {by} do"))
            }
            _ => {
                let name = self.fresh("n");
                let scalars = self.types.such_that(|kind| matches!(kind, Kind::Scalarset(_)));
                let (domain, ty) = match self.random.chance(50) {
                    true => {
                        let ty = *self.random.pick(&scalars)?;
                        (format!("{name}: {}", self.types.name(ty)), ty)
                    }
                    false => self.domain(&name, false)?,
                };
                self.declare(name, ty, false);
                Some(format!("ruleset {domain} do"))
            }
        }
    }
}
