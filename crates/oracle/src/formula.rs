//! Hard histories: 3-SAT formulas as executions (framework-for-consistency-algorithms, Fig. 1 for
//! sc and Fig. 2 for tso and pso). The history is consistent iff the formula is satisfiable, and
//! no engine can be fast on all of them unless P = NP.

use history::{AddressLabel, Builder, History, Operation, ThinAir};
use models::Model;

use crate::Rng;

/// A formula of clauses of three literals: `3` is the third variable, `-3` its negation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Formula {
    clauses: Vec<[i32; 3]>,
    variables: i32,
}

/// Whether occurrences of a literal share one address. The reduction is right only if they do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SharedLiterals {
    /// One address for each occurrence.
    No,
    /// One address for each literal.
    Yes,
}

impl Formula {
    /// A formula of these clauses.
    pub fn new(clauses: impl IntoIterator<Item = [i32; 3]>) -> Self {
        let clauses: Vec<[i32; 3]> = clauses.into_iter().collect();
        let variables = clauses.iter().flatten().map(|l| l.abs()).max().unwrap_or(0);
        Self { clauses, variables }
    }

    /// A random formula: each clause has three different variables where there are as many.
    pub fn random(variables: usize, clauses: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut names: Vec<i32> = (1..=variables as i32).collect();
        let clauses = (0..clauses).map(|_| {
            rng.shuffle(&mut names);
            [0, 1, 2]
                .map(|i| if rng.percent(50) { names[i % variables] } else { -names[i % variables] })
        });
        let clauses: Vec<_> = clauses.collect();
        Self { clauses, variables: variables as i32 }
    }

    /// Whether some assignment satisfies every clause, by trying them all.
    pub fn is_satisfiable(&self) -> bool {
        (0..1u64 << self.variables).any(|assignment| {
            let holds = |l: &i32| (assignment >> (l.abs() - 1) & 1 == 1) == (*l > 0);
            self.clauses.iter().all(|clause| clause.iter().any(holds))
        })
    }

    /// The history of the formula, for sc (Fig. 1) or for tso and pso (Fig. 2). The values 0 and 1
    /// of the figures are 1 and 2 here, so that 0 stays the initial value.
    pub fn history(&self, model: Model, shared: SharedLiterals) -> History {
        let mut threads = Threads::default();
        for variable in 1..=self.variables {
            for value in [0, 1] {
                threads.add([write(format!("x{variable}"), value)]);
            }
        }
        let mut written = Vec::new();
        for (c, clause) in self.clauses.iter().enumerate() {
            let address = |i: usize| match shared {
                SharedLiterals::No => format!("c{c}l{i}"),
                SharedLiterals::Yes => format!("l{}", clause[i]).replace('-', "n"),
            };
            for (i, &literal) in clause.iter().enumerate() {
                if !written.contains(&address(i)) {
                    written.push(address(i));
                    threads.literal(literal, &address(i), model);
                }
            }
            for i in 0..3 {
                threads.add([read(address((i + 2) % 3), 0), read(address(i), 1)]);
            }
        }
        threads.builder.finish(ThinAir::Malformed).expect("every value read is written")
    }
}

enum Access {
    Read(String, u64),
    Write(String, u64),
}

fn read(address: String, value: u64) -> Access {
    Access::Read(address, value + 1)
}

fn write(address: String, value: u64) -> Access {
    Access::Write(address, value + 1)
}

#[derive(Default)]
struct Threads {
    builder: Builder,
    count: u64,
}

impl Threads {
    fn add(&mut self, accesses: impl IntoIterator<Item = Access>) {
        for access in accesses {
            let mut at = |name: String| self.builder.address(&AddressLabel::Name(name.into()));
            let operation = match access {
                Access::Read(address, value) => Operation::Read { address: at(address), value },
                Access::Write(address, value) => Operation::Write { address: at(address), value },
            };
            self.builder.event(self.count, operation, 0).expect("formulas are small");
        }
        self.count += 1;
    }

    /// The two threads that give a literal the value its variable has, guarded by reads.
    fn literal(&mut self, literal: i32, address: &str, model: Model) {
        let variable = || format!("x{}", literal.abs());
        for value in [0, 1] {
            let of_literal = if literal > 0 { value } else { 1 - value };
            let set = write(address.to_owned(), of_literal);
            if model == Model::Sc {
                self.add([read(variable(), value), set, read(variable(), value)]);
            } else {
                self.add([read(variable(), value), set]);
                self.add([read(address.to_owned(), of_literal), read(variable(), value)]);
            }
        }
    }
}
