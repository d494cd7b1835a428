//! Random statements, as text.

use super::expression::{Place, Writer};
use super::types::{Kind, Ty, Types};

/// Where a statement stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context {
    /// How many statements deep it may be nested.
    pub(super) depth: usize,
    /// Whether it is inside a loop already.
    pub(super) looping: bool,
    /// What a `return` may give.
    pub(super) result: Option<Ty>,
}

impl Context {
    fn inner(self) -> Self {
        Context { depth: self.depth.saturating_sub(1), ..self }
    }
}

impl Writer {
    /// Some statements, one a line.
    pub(super) fn statements(&mut self, count: usize, context: Context) -> Vec<String> {
        let mut lines = Vec::new();
        for _ in 0..count {
            if let Some(statement) = (0..4).find_map(|_| self.statement(context)) {
                lines.extend(statement);
            }
        }
        lines
    }

    fn block(&mut self, context: Context) -> Vec<String> {
        let count = 1 + self.random.below(3);
        let lines = self.scoped(|writer| writer.statements(count, context.inner()));
        lines.into_iter().map(|line| format!("  {line}")).collect()
    }

    fn statement(&mut self, context: Context) -> Option<Vec<String>> {
        let nested = context.depth > 0;
        // What was chosen is removed more than once in many rules.
        if !self.positions.is_empty() && self.random.chance(10) {
            return self.remove().map(|statement| vec![statement]);
        }
        match self.random.below(40) {
            0..4 if nested => Some(self.conditional(context)),
            4 | 5 if nested => self.switch(context),
            6..8 if nested && !context.looping => self.counted_loop(context),
            8 | 25 if nested && !context.looping => self.while_loop(context),
            9 | 10 if nested => self.alias(context),
            11..14 => self.procedure().map(|call| vec![call]),
            14..16 => self.forget().map(|statement| vec![statement]),
            16 => Some(vec![self.complaint()]),
            17..20 => self.add().map(|statement| vec![statement]),
            20 | 21 => self.remove().map(|statement| vec![statement]),
            22 => self.remove_where().map(|statement| vec![statement]),
            23 => self.put().map(|statement| vec![statement]),
            24 => self.leave(context).map(|statement| vec![statement]),
            _ => self.assignment().map(|statement| vec![statement]),
        }
    }

    /// A place to change. Writing to it is noted.
    fn target(&mut self, wanted: &dyn Fn(&Types, Ty) -> bool) -> Option<Place> {
        let place = self.place(true, wanted)?;
        self.changed = true;
        Some(place)
    }

    fn assignment(&mut self) -> Option<String> {
        let target = self.target(&|_, _| true)?;
        let value = match self.random.below(80) {
            0 => Some("undefined".to_owned()),
            _ => self.value(target.ty, 2),
        };
        Some(format!("{} := {};", target.text, value?))
    }

    fn conditional(&mut self, context: Context) -> Vec<String> {
        let mut lines = vec![format!("if {} then", self.condition(2))];
        lines.extend(self.block(context));
        if self.random.chance(30) {
            lines.push(format!("elsif {} then", self.condition(2)));
            lines.extend(self.block(context));
        }
        if self.random.chance(40) {
            lines.push("else".to_owned());
            lines.extend(self.block(context));
        }
        lines.push("end;".to_owned());
        lines
    }

    fn switch(&mut self, context: Context) -> Option<Vec<String>> {
        let place = self.place(false, &|types, ty| types.is_simple(ty))?;
        let mut lines = vec![format!("switch {}", place.text)];
        for _ in 0..1 + self.random.below(3) {
            let first = self.case(place.ty)?;
            let values = match self.random.chance(30) {
                true => format!("{first}, {}", self.case(place.ty)?),
                false => first,
            };
            lines.push(format!("case {values}:"));
            lines.extend(self.block(context));
        }
        if self.random.chance(40) {
            lines.push("else".to_owned());
            lines.extend(self.block(context));
        }
        lines.push("end;".to_owned());
        Some(lines)
    }

    fn case(&mut self, ty: Ty) -> Option<String> {
        match self.types.kind(ty) {
            Kind::Boolean | Kind::Range { .. } | Kind::Integer => self.value(ty, 1),
            _ => self.comparable(ty, 1),
        }
    }

    fn counted_loop(&mut self, context: Context) -> Option<Vec<String>> {
        let name = self.fresh("i");
        let (domain, ty) = self.domain(&name, true)?;
        let mut lines = vec![format!("for {domain} do")];
        lines.extend(self.scoped(|writer| {
            writer.declare(name, ty, false);
            writer.block(Context { looping: true, ..context })
        }));
        lines.push("end;".to_owned());
        Some(lines)
    }

    fn while_loop(&mut self, context: Context) -> Option<Vec<String>> {
        let counter = self.target(&|types, ty| matches!(types.kind(ty), Kind::Range { .. }))?;
        let Kind::Range { low, high } = *self.types.kind(counter.ty) else {
            return None;
        };
        let text = counter.text;
        // Towards a close end, so that most loops end; some lose their counter and do not.
        let (condition, step) = match self.random.chance(50) {
            true => (format!("{text} < {}", low.saturating_add(3).min(high)), "+"),
            false => (format!("{text} > {}", high.saturating_sub(3).max(low)), "-"),
        };
        let mut lines = vec![format!("while {condition} do")];
        lines.extend(self.block(Context { looping: true, ..context }));
        if self.random.chance(80) {
            lines.push(format!("  {text} := {text} {step} 1;"));
        }
        lines.push("end;".to_owned());
        Some(lines)
    }

    fn alias(&mut self, context: Context) -> Option<Vec<String>> {
        let name = self.fresh("a");
        let (target, lines) = self.scoped(|writer| {
            let target = writer.declare_alias(&name)?;
            Some((target, writer.block(context)))
        })?;
        let mut all = vec![format!("alias {name}: {target} do")];
        all.extend(lines);
        all.push("end;".to_owned());
        Some(all)
    }

    /// Declares an alias; says what it stands for.
    pub(super) fn declare_alias(&mut self, name: &str) -> Option<String> {
        if self.random.chance(20) {
            let value = self.integer(2);
            // A bare name would make it an alias of a place.
            self.declare(name.to_owned(), Types::INTEGER, false);
            return Some(format!("({value} + 0)"));
        }
        let place = self.place(true, &|_, _| true)?;
        self.declare(name.to_owned(), place.ty, true);
        Some(place.text)
    }

    fn procedure(&mut self) -> Option<String> {
        let function = self.random.pick(&self.functions)?.clone();
        Some(format!("{};", self.call(&function, 2)?))
    }

    fn forget(&mut self) -> Option<String> {
        let place = self.target(&|_, _| true)?;
        if self.types.holds_scalarset(place.ty) && self.random.chance(80) {
            return None;
        }
        let keyword = match self.random.chance(90) && !self.types.holds_scalarset(place.ty) {
            true => "clear",
            false => "undefine",
        };
        Some(format!("{keyword} {};", place.text))
    }

    /// Statements that give a variable a value, as far as there is one at hand.
    pub(super) fn initialise(&mut self, text: &str, ty: Ty) -> Vec<String> {
        if !self.types.holds_scalarset(ty) {
            return vec![format!("clear {text};")];
        }
        match self.types.kind(ty).clone() {
            Kind::Record(fields) => {
                let parts = fields.iter();
                parts
                    .flat_map(|(name, ty)| self.initialise(&format!("{text}.{name}"), *ty))
                    .collect()
            }
            Kind::Array { index, element } => {
                let name = self.fresh("i");
                let mut lines = vec![format!("for {name}: {} do", self.types.name(index))];
                lines.extend(self.initialise(&format!("{text}[{name}]"), element));
                lines.push("end;".to_owned());
                lines
            }
            _ => {
                let value = self.bound(ty).or_else(|| self.literal(ty));
                value.map(|value| format!("{text} := {value};")).into_iter().collect()
            }
        }
    }

    fn complaint(&mut self) -> String {
        match self.random.below(6) {
            0 => format!(
                "if ({} & {}) then error \"no\"; end;",
                self.condition(1),
                self.condition(1)
            ),
            1 => format!("assert ({} | {});", self.condition(1), self.condition(1)),
            2 => format!("assert ({} -> {}) \"because\";", self.condition(1), self.condition(1)),
            3 | 4 => format!("assume ({} | {});", self.condition(1), self.condition(1)),
            _ => format!("cover {};", self.condition(1)),
        }
    }

    fn add(&mut self) -> Option<String> {
        let multiset = self.multiset(true)?;
        let Kind::Multiset { element, capacity } = *self.types.kind(multiset.ty) else {
            return None;
        };
        let value = self.place_of(element, false)?.text;
        self.changed = true;
        let add = format!("MultisetAdd({value}, {});", multiset.text);
        let name = self.fresh("k");
        let count = format!("MultisetCount({name}: {}, true)", multiset.text);
        Some(match self.random.chance(95) {
            true => format!("if {count} < {capacity} then {add} end;"),
            false => add,
        })
    }

    fn remove(&mut self) -> Option<String> {
        let positions = self.positions.clone();
        let position = self.random.pick(&positions)?;
        self.changed = true;
        Some(format!("MultisetRemove({}, {});", position.name, position.multiset))
    }

    fn remove_where(&mut self) -> Option<String> {
        let multiset = self.multiset(true)?;
        let name = self.fresh("k");
        let condition = self.scoped(|writer| {
            writer.declare_position(&name, &multiset);
            writer.condition(2)
        });
        self.changed = true;
        Some(format!("MultisetRemovePred({name}: {}, {condition});", multiset.text))
    }

    fn put(&mut self) -> Option<String> {
        match self.random.below(3) {
            0 => Some("put \"here\";".to_owned()),
            1 => Some(format!("put {};", self.integer(1))),
            _ => self.place(false, &|_, _| true).map(|place| format!("put {};", place.text)),
        }
    }

    fn leave(&mut self, context: Context) -> Option<String> {
        let condition = self.condition(1);
        let leave = match context.result {
            None => "return;".to_owned(),
            Some(ty) => format!("return {};", self.value(ty, 1)?),
        };
        Some(format!("if {condition} then {leave} end;"))
    }
}
