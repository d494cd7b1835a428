//! Random histories for proptest: made as [`random_history`] makes them, shrunk as [`smallest`]
//! shrinks them.
//!
//! [`smallest`]: crate::smallest()

use history::{History, ThinAir};
use proptest::prelude::{Rng as _, Strategy};
use proptest::strategy::{NewTree, ValueTree};
use proptest::test_runner::TestRunner;

use crate::generate::random_history;
use crate::shape::Shape;
use crate::sketch::Sketch;
use crate::smallest::{simplifications, thin_air_of};
use chance::Rng;

/// Histories of a shape.
///
/// ```
/// use models::Model;
/// use proptest::{prop_assert_eq, proptest};
/// use tribunal_oracle::{Shape, allows, machine_allows, strategy};
///
/// proptest!(|(history in strategy(Shape::fences()))| {
///     prop_assert_eq!(allows(&history, Model::Pso), machine_allows(&history, Model::Pso));
/// });
/// ```
pub fn strategy(shape: Shape) -> impl Strategy<Value = History> {
    Histories { shape }
}

#[derive(Debug)]
struct Histories {
    shape: Shape,
}

impl Strategy for Histories {
    type Tree = Shrinking;
    type Value = History;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let mut rng = Rng::new(runner.rng().next_u64());
        Ok(Shrinking::new(random_history(&mut rng, &self.shape)))
    }
}

/// The simplest history known to fail, what is left to try of all that is simpler, and the one
/// being tried.
#[derive(Debug)]
struct Shrinking {
    failing: History,
    /// In the order in which they are to be tried, from the last.
    untried: Vec<Sketch>,
    current: History,
    thin_air: ThinAir,
}

impl Shrinking {
    fn new(history: History) -> Self {
        let thin_air = thin_air_of(&history);
        Self { failing: history.clone(), untried: Vec::new(), current: history, thin_air }
    }

    /// Goes on to the next history that is simpler than the failing one, or back to that.
    fn next(&mut self) -> bool {
        while let Some(sketch) = self.untried.pop() {
            if let Ok(simpler) = sketch.build(self.thin_air) {
                self.current = simpler;
                return true;
            }
        }
        self.current = self.failing.clone();
        false
    }
}

impl ValueTree for Shrinking {
    type Value = History;

    fn current(&self) -> History {
        self.current.clone()
    }

    /// The current history fails: go on to what is simpler than it.
    fn simplify(&mut self) -> bool {
        self.failing = self.current.clone();
        self.untried = simplifications(&Sketch::of(&self.failing));
        self.untried.reverse();
        self.next()
    }

    /// The current history does not fail: go on to what else is simpler than the one that does.
    fn complicate(&mut self) -> bool {
        self.next()
    }
}
