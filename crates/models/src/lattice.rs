//! Which model implies which: every history of the stronger is a history of the weaker.
//!
//! Listed are the covering pairs; [`implies`] is their reflexive-transitive closure. The
//! documentation gives the reasons, the tests check each on random histories and hold an example
//! that separates the two.

use crate::Model;

/// Every history of `stronger` is one of `weaker`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Implication {
    /// The model that allows less.
    pub stronger: Model,
    /// The model that allows more.
    pub weaker: Model,
}

const fn pair(stronger: Model, weaker: Model) -> Implication {
    Implication { stronger, weaker }
}

/// The covering pairs of the lattice, each strict.
pub const IMPLICATIONS: &[Implication] = &[
    pair(Model::Sc, Model::Tso),
    pair(Model::Sc, Model::Ccm),
    pair(Model::Tso, Model::Pso),
    pair(Model::Tso, Model::Wccm),
    pair(Model::Pso, Model::Wmo),
    pair(Model::Pso, Model::Rmo),
    pair(Model::Wmo, Model::Coherence),
    pair(Model::Ccm, Model::Wccm),
    pair(Model::Ccm, Model::Cm),
    pair(Model::Wccm, Model::Ccv),
    pair(Model::Ccv, Model::Coherence),
    pair(Model::Ccv, Model::Cc),
    pair(Model::Cm, Model::Cc),
];

/// Whether every history of `stronger` is one of `weaker`, as far as the lattice says.
pub fn implies(stronger: Model, weaker: Model) -> bool {
    stronger == weaker
        || IMPLICATIONS.iter().any(|i| i.stronger == stronger && implies(i.weaker, weaker))
}

/// All models, each after every model that implies it.
pub fn strongest_first() -> Vec<Model> {
    let mut order: Vec<Model> = Vec::with_capacity(Model::ALL.len());
    while order.len() < Model::ALL.len() {
        let next = Model::ALL.into_iter().find(|m| {
            !order.contains(m)
                && IMPLICATIONS.iter().all(|i| i.weaker != *m || order.contains(&i.stronger))
        });
        order.extend(next);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_consistency_implies_every_model() {
        assert!(Model::ALL.into_iter().all(|m| implies(Model::Sc, m)));
    }

    #[test]
    fn no_two_models_imply_each_other() {
        for a in Model::ALL {
            for b in Model::ALL {
                assert!(a == b || !(implies(a, b) && implies(b, a)), "{a} {b}");
            }
        }
    }

    #[test]
    fn stronger_models_come_first() {
        let order = strongest_first();
        assert_eq!(order[0], Model::Sc);
        for i in IMPLICATIONS {
            let at = |m| order.iter().position(|&o| o == m);
            assert!(at(i.stronger) < at(i.weaker));
        }
    }
}
