//! Native functions that were compiled before.
//!
//! A proof for any number of processors compiles hundreds of programs that differ in a few rules.
//! Cranelift's intermediate form of a function says everything about its code but the names of the
//! functions it calls, which are linked afterwards; so a function whose form is equal to one that was
//! compiled before, for the same processor, gets the same bytes. Forms are compared as a whole, not
//! by a hash of them: a cache never changes what runs.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use cranelift_codegen::FinalizedMachReloc;
use cranelift_codegen::ir::function::FunctionStencil;
use rustc_hash::{FxHashMap, FxHasher};

/// How many instructions of Cranelift's form a cache keeps at most, at some 100 bytes each.
const MOST_INSTRUCTIONS: usize = 600_000;

/// Native functions that programs share. Clones are the same cache.
#[derive(Clone, Default)]
pub struct CodeCache {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    /// By the hash of their form.
    functions: FxHashMap<u64, Vec<(FunctionStencil, Arc<Linkable>)>>,
    instructions: usize,
}

/// A native function as bytes, before it is known where it and its callees are.
pub(crate) struct Linkable {
    pub(crate) bytes: Vec<u8>,
    pub(crate) alignment: u64,
    pub(crate) relocations: Vec<FinalizedMachReloc>,
}

impl CodeCache {
    /// How many functions it keeps.
    pub fn functions(&self) -> usize {
        self.kept().functions.values().map(Vec::len).sum()
    }

    /// The code of a function of this form: what was compiled before, or else what `compile` makes.
    pub(crate) fn code<E>(
        &self,
        form: &FunctionStencil,
        compile: impl FnOnce() -> Result<Linkable, E>,
    ) -> Result<Arc<Linkable>, E> {
        let hash = hash_of(form);
        if let Some(code) = self.kept().find(hash, form) {
            return Ok(code);
        }
        let code = Arc::new(compile()?);
        self.kept().keep(hash, form, &code);
        Ok(code)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&self, hash: u64, form: &FunctionStencil) -> Option<Arc<Linkable>> {
        let same_hash = self.functions.get(&hash)?;
        same_hash.iter().find(|(kept, _)| kept == form).map(|(_, code)| Arc::clone(code))
    }

    /// When it is full, everything is dropped: what is still in use comes back with the next program.
    fn keep(&mut self, hash: u64, form: &FunctionStencil, code: &Arc<Linkable>) {
        let size = form.dfg.num_insts();
        if size > MOST_INSTRUCTIONS {
            return;
        }
        if self.instructions + size > MOST_INSTRUCTIONS {
            *self = Kept::default();
        }
        self.instructions += size;
        self.functions.entry(hash).or_default().push((form.clone(), Arc::clone(code)));
    }
}

fn hash_of(form: &FunctionStencil) -> u64 {
    let mut hasher = FxHasher::default();
    form.hash(&mut hasher);
    hasher.finish()
}
