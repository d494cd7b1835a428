//! Hard histories: 3-SAT formulas as executions (framework-for-consistency-algorithms, Fig. 1 for
//! sc and Fig. 2 for tso and pso). The history is consistent iff the formula is satisfiable, so no
//! engine is fast on all of them unless P = NP; random formulas of about 4.3 clauses a variable are
//! the hardest.
//!
//! The figures' values 0 and 1 are 1 and 2 here, so that 0 stays the initial value. Each
//! occurrence of a literal has an address of its own: with one for all occurrences the reduction
//! is wrong (docs/models.md). O(clauses).

use history::{AddressLabel, BuildError, Builder, History, Operation, ThinAir, Value};
use models::Model;

use chance::Rng;

/// A formula of clauses of three literals: `3` is the third variable, `-3` its negation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    variables: u32,
    clauses: Vec<[i32; 3]>,
}

impl Formula {
    /// The most variables and clauses of a formula.
    pub const LIMIT: u32 = 1 << 20;

    /// The random formula of a seed. The variables of a clause differ where there are three.
    ///
    /// ```
    /// use models::Model;
    /// use tribunal_stress::Formula;
    ///
    /// let history = Formula::random(20, 86, 1).history(Model::Sc)?;
    /// assert_eq!(history.address_count(), 20 + 3 * 86);
    /// # Ok::<(), history::BuildError>(())
    /// ```
    pub fn random(variables: u32, clauses: u32, seed: u64) -> Self {
        let variables = variables.clamp(1, Formula::LIMIT);
        let mut rng = Rng::new(seed);
        let mut clause = || {
            let mut literals = [0; 3];
            for at in 0..3 {
                literals[at] = loop {
                    let variable = rng.below(variables as usize) as i32 + 1;
                    let new = literals[..at].iter().all(|l: &i32| l.abs() != variable);
                    if new || at as u32 >= variables {
                        break if rng.percent(50) { variable } else { -variable };
                    }
                };
            }
            literals
        };
        let clauses = (0..clauses.min(Formula::LIMIT)).map(|_| clause()).collect();
        Formula { variables, clauses }
    }

    /// Its clauses.
    pub fn clauses(&self) -> &[[i32; 3]] {
        &self.clauses
    }

    /// The history of the formula for a model: `tso` and `pso` have a figure of their own, every
    /// other model gets that of `sc`.
    ///
    /// An error if it has more threads than a trace may have.
    pub fn history(&self, model: Model) -> Result<History, BuildError> {
        let mut threads = Threads { builder: Builder::new(), count: 0 };
        for variable in 1..=self.variables {
            for value in [1, 2] {
                threads.add(&[(format!("x{variable}"), HardAccess::Writes(value))])?;
            }
        }
        for (number, clause) in self.clauses.iter().enumerate() {
            let address = |at: usize| format!("c{number}l{at}");
            for (at, &literal) in clause.iter().enumerate() {
                threads.literal(literal, &address(at), model)?;
            }
            for at in 0..3 {
                threads.add(&[
                    (address((at + 2) % 3), HardAccess::Reads(1)),
                    (address(at), HardAccess::Reads(2)),
                ])?;
            }
        }
        threads.builder.finish(ThinAir::Malformed)
    }
}

#[derive(Clone, Copy)]
enum HardAccess {
    Reads(Value),
    Writes(Value),
}

struct Threads {
    builder: Builder,
    count: u64,
}

impl Threads {
    fn add(&mut self, accesses: &[(String, HardAccess)]) -> Result<(), BuildError> {
        for (name, does) in accesses {
            let address = self.builder.address(&AddressLabel::Name(name.as_str().into()));
            let operation = match *does {
                HardAccess::Reads(value) => Operation::Read { address, value },
                HardAccess::Writes(value) => Operation::Write { address, value },
            };
            self.builder.event(self.count, operation, 0)?;
        }
        self.count += 1;
        Ok(())
    }

    /// The threads that give a literal the value its variable has, guarded by reads.
    fn literal(&mut self, literal: i32, address: &str, model: Model) -> Result<(), BuildError> {
        let variable = format!("x{}", literal.abs());
        for value in [1, 2] {
            let of_literal = if literal > 0 { value } else { 3 - value };
            let reads = (variable.clone(), HardAccess::Reads(value));
            let sets = (address.to_owned(), HardAccess::Writes(of_literal));
            if matches!(model, Model::Tso | Model::Pso) {
                self.add(&[reads.clone(), sets])?;
                self.add(&[(address.to_owned(), HardAccess::Reads(of_literal)), reads])?;
            } else {
                self.add(&[reads.clone(), sets, reads])?;
            }
        }
        Ok(())
    }
}
