//! The table of models: name, meaning, and what each keeps of program order.

use std::fmt;
use std::str::FromStr;

/// A memory consistency model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Model {
    /// Sequential consistency.
    Sc,
    /// Total store order.
    Tso,
    /// Partial store order.
    Pso,
    /// Weak memory order, as Axe defines it.
    Wmo,
    /// Relaxed memory order.
    Rmo,
    /// Sequential consistency per location.
    Coherence,
    /// Convergent causal memory.
    Ccm,
    /// Weak convergent causal memory.
    Wccm,
    /// Causal memory.
    Cm,
    /// Causal convergence.
    Ccv,
    /// (Weak) causal consistency.
    Cc,
}

/// How much of one kind of program-order pair a model keeps.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Keeps {
    /// Every such pair.
    Always,
    /// Pairs on one address.
    SameAddress,
    /// None.
    Never,
}

/// What a store model keeps. With ww a total order of the writes of each address and
/// fr = rf⁻¹;ww, a history satisfies the model iff some ww makes both graphs acyclic:
/// *location*: po-loc ∪ rf ∪ ww ∪ fr, and, if there is one,
/// *global*: kept program order ∪ fences ∪ visible rf ∪ ww ∪ fr.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreRules {
    /// Read before read.
    pub read_read: Keeps,
    /// Read before write.
    pub read_write: Keeps,
    /// Write before read.
    pub write_read: Keeps,
    /// Write before write.
    pub write_write: Keeps,
    /// A read is kept before whatever of its thread began after it ended.
    pub times: bool,
    /// Declared dependencies are kept, and dependencies ∪ rf must be acyclic.
    pub dependencies: bool,
    /// A thread's read of its own write is ordered globally too (no store buffer).
    pub own_reads_visible: bool,
    /// Two reads of one address may swap: po-loc leaves out read-read pairs.
    pub same_address_reads_swap: bool,
    /// There is a global graph; without it only the location graph counts.
    pub global: bool,
}

impl StoreRules {
    /// The rules for accesses of mixed sizes, where locations are bytes and an access is one node of
    /// the global graph. A model without a global graph gets one there, of reads that overlap, rf
    /// between threads, ww and fr, in which fences still mean nothing: `global` stays false.
    pub fn of_mixed_sizes(self) -> Self {
        if self.global {
            return self;
        }
        StoreRules {
            read_read: Keeps::SameAddress,
            read_write: Keeps::Never,
            write_read: Keeps::Never,
            write_write: Keeps::Never,
            own_reads_visible: false,
            ..self
        }
    }
}

/// What a causal model asks for, over co = (po ∪ rf)⁺ acyclic with no read seeing an overwritten
/// value in its causal past.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CausalRules {
    /// po ∪ rf ∪ cf is acyclic: all threads agree on the order of conflicting writes.
    pub convergent: bool,
    /// Every per-operation happens-before hb_o is acyclic: each thread sees one order.
    pub memory: bool,
    /// The partial store order pww of all hb_o together is acyclic with its from-reads.
    pub store_order: bool,
    /// Causality follows the relaxed orders of tso (ppo and po-loc, each with rf between threads)
    /// instead of program order.
    pub relaxed: bool,
}

/// The rules of a model: one of the two families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rules {
    /// A store model.
    Store(StoreRules),
    /// A causal model.
    Causal(CausalRules),
}

/// One row of the table.
struct Row {
    model: Model,
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    rules: Rules,
}

/// The model that keeps everything; rows are written as differences from it.
const SC: StoreRules = StoreRules {
    read_read: Keeps::Always,
    read_write: Keeps::Always,
    write_read: Keeps::Always,
    write_write: Keeps::Always,
    times: false,
    dependencies: false,
    own_reads_visible: true,
    same_address_reads_swap: false,
    global: true,
};

const TSO: StoreRules = StoreRules { write_read: Keeps::Never, own_reads_visible: false, ..SC };

const PSO: StoreRules = StoreRules { write_write: Keeps::SameAddress, ..TSO };

const WMO: StoreRules = StoreRules {
    read_read: Keeps::SameAddress,
    read_write: Keeps::SameAddress,
    times: true,
    ..PSO
};

const RMO: StoreRules = StoreRules {
    read_read: Keeps::Never,
    read_write: Keeps::Never,
    write_write: Keeps::Never,
    dependencies: true,
    same_address_reads_swap: true,
    ..TSO
};

const COHERENCE: StoreRules = StoreRules { global: false, ..SC };

const CC: CausalRules =
    CausalRules { convergent: false, memory: false, store_order: false, relaxed: false };

const TABLE: &[Row] = &[
    Row {
        model: Model::Sc,
        name: "sc",
        title: "sequential consistency",
        summary: "one interleaving of all threads explains every read",
        rules: Rules::Store(SC),
    },
    Row {
        model: Model::Tso,
        name: "tso",
        title: "total store order",
        summary: "a FIFO store buffer per thread (x86, SPARC TSO); an atomic acts as a full fence",
        rules: Rules::Store(TSO),
    },
    Row {
        model: Model::Pso,
        name: "pso",
        title: "partial store order",
        summary: "a store buffer per thread and address; writes to different addresses may swap",
        rules: Rules::Store(PSO),
    },
    Row {
        model: Model::Wmo,
        name: "wmo",
        title: "weak memory order (Axe)",
        summary: "keeps same-address order, and a read before operations that start after it \
                  completes",
        rules: Rules::Store(WMO),
    },
    Row {
        model: Model::Rmo,
        name: "rmo",
        title: "relaxed memory order",
        summary: "keeps declared dependencies only; same-address reads may swap; no \
                  out-of-thin-air values",
        rules: Rules::Store(RMO),
    },
    Row {
        model: Model::Coherence,
        name: "coherence",
        title: "sequential consistency per location",
        summary: "each address on its own is sequentially consistent",
        rules: Rules::Store(COHERENCE),
    },
    Row {
        model: Model::Ccm,
        name: "ccm",
        title: "convergent causal memory",
        summary: "both cm and ccv, and the write order that follows from them has no cycle",
        rules: Rules::Causal(CausalRules {
            convergent: true,
            memory: true,
            store_order: true,
            ..CC
        }),
    },
    Row {
        model: Model::Wccm,
        name: "wccm",
        title: "weak convergent causal memory",
        summary: "ccm with program order replaced by what tso keeps of it",
        rules: Rules::Causal(CausalRules { store_order: true, relaxed: true, ..CC }),
    },
    Row {
        model: Model::Cm,
        name: "cm",
        title: "causal memory",
        summary: "each thread can order all writes in its causal past consistently with its reads",
        rules: Rules::Causal(CausalRules { memory: true, ..CC }),
    },
    Row {
        model: Model::Ccv,
        name: "ccv",
        title: "causal convergence",
        summary: "cc, and all threads agree on the order of conflicting writes",
        rules: Rules::Causal(CausalRules { convergent: true, ..CC }),
    },
    Row {
        model: Model::Cc,
        name: "cc",
        title: "causal consistency",
        summary: "no thread reads a value that its causal past has overwritten",
        rules: Rules::Causal(CC),
    },
];

impl Model {
    /// Every model, in the order of the table.
    pub const ALL: [Model; TABLE.len()] = {
        let mut all = [Model::Sc; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            all[i] = TABLE[i].model;
            i += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        // The table is in the order of the enum; a test holds the two together.
        &TABLE[self as usize]
    }

    /// The name on the command line: `tso`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in full: `total store order`.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// What it promises, in a line.
    pub fn summary(self) -> &'static str {
        self.row().summary
    }

    /// Its rules.
    pub fn rules(self) -> Rules {
        self.row().rules
    }

    /// Its rules, if it is a store model.
    pub fn store_rules(self) -> Option<StoreRules> {
        match self.rules() {
            Rules::Store(rules) => Some(rules),
            Rules::Causal(_) => None,
        }
    }

    /// Its rules, if it is a causal model.
    pub fn causal_rules(self) -> Option<CausalRules> {
        match self.rules() {
            Rules::Causal(rules) => Some(rules),
            Rules::Store(_) => None,
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no model's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownModel(pub String);

impl fmt::Display for UnknownModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown model `{}`; the models are", self.0)?;
        for (i, model) in Model::ALL.iter().enumerate() {
            write!(f, "{} {model}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownModel {}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(name: &str) -> Result<Self, UnknownModel> {
        Model::ALL
            .into_iter()
            .find(|m| m.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownModel(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (i, row) in TABLE.iter().enumerate() {
            assert_eq!(row.model as usize, i);
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!("CCv".parse(), Ok(Model::Ccv));
        assert!("tsox".parse::<Model>().is_err());
    }
}
