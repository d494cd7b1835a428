//! Conditions and numbers about what a program has: the atoms of claims, guards and errors.

use chance::Rng;

use super::program::mentions;

/// A bound variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Processor,
    /// `1..K`
    Number,
    State,
    Truth,
    /// The other scalarset.
    Member,
}

/// A name and what it stands for.
pub(crate) type Bound = (String, Sort);

/// What may be spoken of.
pub(crate) struct Words<'a> {
    pub(crate) rng: &'a mut Rng,
    /// The rules as a text.
    pub(crate) about: String,
    pub(crate) bound: u64,
    /// How many names were given.
    pub(crate) names: usize,
}

impl Words<'_> {
    pub(crate) fn uses(&self, variable: &str) -> bool {
        mentions(&self.about, variable)
    }

    pub(crate) fn one_of(&mut self, texts: &[String]) -> String {
        self.rng.pick(texts).cloned().unwrap_or_else(|| "true".to_owned())
    }

    pub(crate) fn fresh(&mut self) -> String {
        self.names += 1;
        format!("x{}", self.names)
    }

    /// One of the bound variables of a sort.
    pub(crate) fn bound_one(&mut self, around: &[Bound], sort: Sort) -> Option<String> {
        let own: Vec<String> =
            around.iter().filter(|each| each.1 == sort).map(|each| each.0.clone()).collect();
        // The latest one mostly: it was bound to be spoken of.
        match own.last() {
            Some(last) if self.rng.percent(50) => Some(last.clone()),
            _ => self.rng.pick(&own).cloned(),
        }
    }

    /// A number of the range, bound or not.
    pub(crate) fn number(&mut self, around: &[Bound]) -> String {
        match self.bound_one(around, Sort::Number) {
            Some(name) if self.rng.percent(80) => name,
            _ => (1 + self.rng.below(self.bound as usize)).to_string(),
        }
    }

    pub(crate) fn state(&mut self, around: &[Bound]) -> String {
        match self.bound_one(around, Sort::State) {
            Some(name) if self.rng.percent(80) => name,
            _ => self.rng.pick(&["I", "A", "B", "C"]).copied().unwrap_or("I").to_owned(),
        }
    }

    fn truth(&mut self, around: &[Bound]) -> String {
        match self.bound_one(around, Sort::Truth) {
            Some(name) if self.rng.percent(80) => name,
            _ => self.rng.pick(&["true", "false"]).copied().unwrap_or("true").to_owned(),
        }
    }

    /// A condition without quantifiers.
    pub(crate) fn atom(&mut self, around: &[Bound]) -> String {
        let mut texts = Vec::new();
        for _ in 0..2 {
            texts.extend(self.about_one(around));
        }
        if texts.is_empty() || self.rng.percent(25) {
            texts = self.about_none(around);
        }
        self.one_of(&texts)
    }

    /// Conditions about bound processors.
    fn about_one(&mut self, around: &[Bound]) -> Vec<String> {
        let (Some(x), Some(y)) =
            (self.bound_one(around, Sort::Processor), self.bound_one(around, Sort::Processor))
        else {
            return Vec::new();
        };
        let (s, e, b) = (self.number(around), self.state(around), self.truth(around));
        let mut texts = Vec::new();
        if x != y {
            texts.push(format!("{x} != {y}"));
        }
        if self.uses("l") {
            texts.extend([
                format!("l[{x}] = {s}"),
                format!("l[{x}] = {s}"),
                format!("l[{x}] < {s}"),
            ]);
            texts.push(format!("l[{x}] = l[{y}]"));
        }
        if self.uses("st") {
            texts.extend([format!("st[{x}] = {e}"), format!("st[{x}] = {e}")]);
            texts.push(format!("st[{x}] = st[{y}]"));
        }
        for set in ["done", "set"] {
            if self.uses(set) {
                texts.push(format!("{set}[{x}] = {b}"));
                texts.push(format!("{set}[{x}]"));
            }
        }
        if self.uses("ref") {
            texts.push(format!("(!isundefined(ref[{x}]) & ref[{x}] = {y})"));
            texts.push(format!(
                "(isundefined(ref[{x}]) | isundefined(ref[{y}]) | ref[{x}] != ref[{y}])"
            ));
            texts.push(format!("isundefined(ref[{x}])"));
            for table in ["done", "set"] {
                if self.uses(table) {
                    texts.push(format!("(!isundefined(ref[{x}]) & {table}[ref[{x}]])"));
                }
            }
            if self.uses("l") {
                texts.push(format!("(!isundefined(ref[{x}]) & l[ref[{x}]] = {s})"));
            }
            texts.push(format!(
                "(!isundefined(ref[{x}]) & !isundefined(ref[ref[{x}]]) & ref[ref[{x}]] = {y})"
            ));
        }
        if self.uses("holder") {
            texts.push(format!("(!isundefined(holder[{s}]) & holder[{s}] = {x})"));
        }
        if self.uses("owner") {
            texts.push(format!("(!isundefined(owner) & owner = {x})"));
            if self.uses("ref") {
                texts.push(format!(
                    "(!isundefined(owner) & !isundefined(ref[{x}]) & ref[{x}] = owner)"
                ));
            }
        }
        if self.uses("rec") {
            texts.push(format!("rec[{x}].v = {}", self.rng.below(3)));
            texts.push(format!("(!isundefined(rec[{x}].who) & rec[{x}].who = {y})"));
        }
        if self.uses("val") {
            texts.push(format!("(!isundefined(val[{x}]) & val[{x}] = X)"));
        }
        if self.uses("grid") {
            let z = self.fresh();
            texts.push(format!("grid[{x}][{y}]"));
            texts.push(format!("grid[{x}][{y}]"));
            texts.push(format!("(exists {z}: P do grid[{x}][{z}] end)"));
            texts.push(format!("(exists {z}: P do grid[{z}][{x}] end)"));
        }
        if self.uses("dir") {
            texts.push(format!("dir.sharers[{x}]"));
            texts.push(format!("(!isundefined(dir.head) & dir.head = {x})"));
        }
        for set in ["team", "spare"] {
            if self.uses(set) {
                texts.extend([format!("{set}[{x}]"), format!("{set}[{x}] = {set}[{y}]")]);
            }
        }
        if self.uses("dest") {
            texts.push(format!("(ismember(dest[{x}], P) & dest[{x}] = {y})"));
            texts.push(format!("ismember(dest[{x}], V)"));
            texts.push(format!("dest[{x}] = dest[{y}]"));
        }
        if self.uses("mine")
            && let Some(m) = self.bound_one(around, Sort::Member)
        {
            texts.push(format!("(!isundefined(mine[{x}]) & mine[{x}] = {m})"));
        }
        texts
    }

    /// Conditions about no bound processor.
    fn about_none(&mut self, around: &[Bound]) -> Vec<String> {
        let (s, other) = (self.number(around), self.number(around));
        let b = self.truth(around);
        let mut texts = vec![self.truth(around)];
        if self.uses("n") {
            texts.extend([format!("n = {s}"), format!("n < {s}"), format!("n >= {s}")]);
        }
        if self.uses("flag") {
            texts.push(format!("flag = {b}"));
        }
        if self.uses("free") {
            texts.push(format!("free[{s}]"));
        }
        if self.uses("holder") {
            texts.push(format!("isundefined(holder[{s}])"));
            if s != other {
                texts.push(format!(
                    "(isundefined(holder[{s}]) | isundefined(holder[{other}]) | holder[{s}] = holder[{other}])"
                ));
                texts.push(format!(
                    "(!isundefined(holder[{s}]) & !isundefined(holder[{other}]) & holder[{s}] = holder[{other}])"
                ));
            }
            if self.uses("l") {
                texts.push(format!("(!isundefined(holder[{s}]) & l[holder[{s}]] = {other})"));
            }
            if self.uses("st") || self.uses("done") {
                let table = if self.uses("done") { "done" } else { "set" };
                texts.push(format!("(!isundefined(holder[{s}]) & {table}[holder[{s}]])"));
            }
        }
        if self.uses("owner") && self.uses("second") {
            texts.push("(isundefined(owner) | isundefined(second) | owner != second)".into());
            texts.push("(!isundefined(owner) & !isundefined(second) & owner = second)".into());
        }
        if self.uses("bag") {
            let value = self.rng.pick(&["X", "Y"]).copied().unwrap_or("X");
            texts.push(format!("multisetcount(i: bag, bag[i] = {value}) < {s}"));
        }
        if self.uses("count") {
            texts.push("count = 0".into());
        }
        if self.uses("dir") {
            texts.extend([format!("dir.level = {s}"), format!("dir.level < {s}")]);
            texts.push("(!isundefined(dir.head) & dir.sharers[dir.head])".into());
        }
        if self.uses("team") {
            texts.push("full(team)".into());
        }
        if self.uses("spare") {
            texts.push("full(spare)".into());
        }
        if self.uses("anyone") {
            texts.push(format!("anyone({})", self.state(around)));
        }
        texts
    }

    /// A number that may become large, about these processors, each of them once.
    pub(crate) fn large(&mut self, around: &[Bound]) -> String {
        let own = around.iter().filter(|each| each.1 == Sort::Processor);
        let own: Vec<String> = own.map(|each| each.0.clone()).collect();
        let mut terms = Vec::new();
        for x in &own {
            terms.extend(self.term(x));
        }
        let mut alone = Vec::new();
        if self.uses("n") {
            alone.extend(["n".to_owned(), "n".to_owned()]);
        }
        if self.uses("dir") {
            alone.extend(["dir.level".to_owned(), "dir.level".to_owned()]);
        }
        if self.uses("bag") {
            alone.push("multisetcount(i: bag, true)".to_owned());
            alone.push("multisetcount(i: bag, bag[i] = X)".to_owned());
        }
        if terms.is_empty() || (!alone.is_empty() && self.rng.percent(20)) {
            alone.push("0".to_owned());
            terms.push(self.one_of(&alone));
        }
        terms.join(" + ")
    }

    /// What one processor adds to a number.
    fn term(&mut self, x: &str) -> Option<String> {
        let mut texts = Vec::new();
        if self.uses("l") {
            texts.extend([format!("l[{x}]"), format!("l[{x}]")]);
        }
        if self.uses("rec") {
            texts.push(format!("rec[{x}].v"));
        }
        if self.uses("st") {
            texts.push(format!("(st[{x}] = {} ? 1 : 0)", self.state(&[])));
            texts.push(format!("(st[{x}] = B ? 2 : 1)"));
        }
        if self.uses("done") {
            texts.push(format!("(done[{x}] ? 1 : 0)"));
        }
        if self.uses("set") {
            texts.push(format!("(set[{x}] ? 1 : 0)"));
        }
        if self.uses("dir") {
            texts.push(format!("(dir.sharers[{x}] ? 1 : 0)"));
        }
        if self.uses("team") {
            texts.push(format!("(team[{x}] ? 1 : 0)"));
        }
        if self.uses("grid") {
            let z = self.fresh();
            texts.push(format!("((exists {z}: P do grid[{x}][{z}] end) ? 1 : 0)"));
        }
        if texts.is_empty() { None } else { Some(self.one_of(&texts)) }
    }
}
