//! Which functions are evaluated once for each state, although many guards and properties call them.
//!
//! Generated models ask the same question in the guard of nearly every rule: whether all messages were
//! taken, whether two halves of the model agree. While guards and properties are evaluated the state
//! does not change, so a function that changes nothing gives the same result for the same arguments.
//! Results are kept in a table of the machine, with the number of the run in which they were found;
//! there is an entry for each combination of arguments, so only functions of few of them have any.
//! Errors and exclusions are not kept.

use murphi::ir::{Function, FunctionId, Model, Storage};

use crate::facts::Knowledge;

/// Bits of a result.
pub(crate) const RESULT_BITS: i64 = 16;
/// The most entries of a function.
const MOST: u64 = 64;
/// The most entries of all functions.
const MOST_OF_ALL: u32 = 1 << 14;

/// Where the results of functions are kept.
#[derive(Debug, Default)]
pub(crate) struct Memos {
    /// For each function, where its entries begin.
    functions: Vec<Option<u32>>,
    entries: u32,
}

impl Memos {
    /// The functions of a model whose results are kept.
    pub(crate) fn of(model: &Model, knowledge: &Knowledge) -> Memos {
        let mut memos = Memos::default();
        for (number, function) in (0..).map(FunctionId).zip(&model.functions) {
            let facts = knowledge.function(number);
            let changes = facts.writes || facts.writes_parameters || facts.changes;
            let is_short = knowledge.is_small(number) || facts.is_recursive;
            let entries = if changes || is_short { None } else { entries(model, function) };
            let entries = entries.filter(|entries| memos.entries + entries <= MOST_OF_ALL);
            memos.functions.push(entries.map(|_| memos.entries));
            memos.entries += entries.unwrap_or(0);
        }
        memos
    }

    /// Where the entries of a function begin, if it has any.
    pub(crate) fn of_function(&self, function: FunctionId) -> Option<u32> {
        self.functions.get(function.0 as usize).copied().flatten()
    }

    /// How many entries there are.
    pub(crate) fn entries(&self) -> usize {
        self.entries as usize
    }
}

/// How many combinations of arguments a function has, undefined ones among them, if these are simple
/// and its result is.
fn entries(model: &Model, function: &Function) -> Option<u32> {
    let result = function.result.filter(|&ty| model.simple(ty).is_some())?;
    if !(1..(1 << RESULT_BITS) - 1).contains(&model.count(result)) {
        return None;
    }
    let parameters = &function.frame.locals[..function.parameters];
    let all = parameters.iter().try_fold(1u64, |all, parameter| {
        let by_value = parameter.storage == Storage::Own && model.simple(parameter.ty).is_some();
        let count = Some(model.count(parameter.ty)).filter(|&count| by_value && count > 0)?;
        all.checked_mul(count.checked_add(1)?).filter(|&all| all <= MOST)
    });
    all.map(|all| all as u32)
}
