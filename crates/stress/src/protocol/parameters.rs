//! Which processor and which address an instance of a rule is about.

use conform::{Recording, Role};

/// The parameters of a rule: what each names, and how many values it has.
#[derive(Debug, Clone)]
pub(super) struct Parameters(Vec<(Role, u64)>);

impl Parameters {
    /// Those of all rules.
    pub(super) fn of_rules(recording: &Recording) -> Vec<Self> {
        (0..recording.rules()).map(|rule| Parameters(recording.roles(rule))).collect()
    }

    /// The processors (or addresses) among the parameters of an instance, outermost first.
    pub(super) fn named(&self, role: Role, instance: u64) -> impl Iterator<Item = u32> + '_ {
        let places = (0..self.0.len()).filter(move |&place| self.0[place].0 == role);
        places.map(move |place| self.digit(instance, place) as u32)
    }

    /// How many parameters name a processor (or an address).
    pub(super) fn count(&self, role: Role) -> usize {
        self.0.iter().filter(|(other, _)| *other == role).count()
    }

    /// A parameter of an instance, counted from 0.
    fn digit(&self, instance: u64, place: usize) -> u64 {
        let inner = self.0[place + 1..].iter();
        let below = inner.fold(1u64, |product, (_, radix)| product.saturating_mul(*radix).max(1));
        instance / below % self.0[place].1.max(1)
    }
}
