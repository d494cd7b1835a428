//! Lemmas of a user who wants a broken program to be verified.

use super::program::{Program, Rule};
use super::words::{Bound, Sort, Words};

impl Words<'_> {
    /// One to three lemmas for the rules of a program.
    pub(crate) fn lemmas(&mut self, program: &Program) -> Vec<String> {
        let mut found = Vec::new();
        let is_chosen =
            |rule: &&Rule| rule.parameters.iter().any(|each| each.starts_with("choose "));
        let rules: Vec<&Rule> = program.rules.iter().filter(|rule| !is_chosen(rule)).collect();
        for _ in 0..1 + self.rng.below(3) {
            let few: Vec<&Rule> =
                rules.iter().copied().filter(|rule| rule.parameters.len() < 3).collect();
            // Mostly for a rule of few processors: more than are in view are refused.
            let rule = match self.rng.percent(90) {
                true => self.rng.pick(&few).copied(),
                false => self.rng.pick(&rules).copied(),
            };
            if let Some(rule) = rule {
                found.push(self.lemma(rule));
            }
        }
        found
    }

    fn lemma(&mut self, rule: &Rule) -> String {
        let mut names: Vec<String> = rule.parameters.clone();
        let mut around: Vec<Bound> =
            rule.parameters.iter().filter_map(|each| sorted(each)).collect();
        for _ in 0..[0, 0, 0, 0, 0, 0, 1, 1, 2, 4][self.rng.below(10)] {
            let name = self.fresh();
            names.push(format!("{name}: P"));
            around.push((name, Sort::Processor));
        }
        let condition = match self.rng.below(10) {
            0..4 => "false".to_owned(),
            4 => "(1 = 2)".to_owned(),
            5 => self.claim_alone(),
            6 => format!("!({})", rule.guard.join(" & ")),
            _ => self.claim(&around, 2),
        };
        let condition = if condition == "!()" { "false".to_owned() } else { condition };
        let opened: String = names.iter().map(|each| format!("forall {each} do ")).collect();
        let closed = " end".repeat(names.len());
        let text = format!("invariant \"lemma for {}\" {opened}{condition}{closed};", rule.name);
        text.replace("1..K", &format!("1..{}", self.bound))
            .replace("0..K", &format!("0..{}", self.bound))
    }
}

/// A parameter of a rule as a bound variable.
fn sorted(parameter: &str) -> Option<Bound> {
    let (name, ty) = parameter.split_once(": ")?;
    let sort = match ty {
        "P" => Sort::Processor,
        "1..K" => Sort::Number,
        "S" => Sort::State,
        "Q" => Sort::Member,
        _ => return None,
    };
    Some((name.to_owned(), sort))
}
