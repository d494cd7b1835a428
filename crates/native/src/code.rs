//! Machine code: compiling native functions, in parallel, and keeping them callable.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::Function;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Module, ModuleReloc, default_libcall_names};

use crate::Error;
use crate::cache::{CodeCache, Linkable};

/// Below so many native functions another thread does not pay.
const WORTH_A_THREAD: usize = 8;

/// Executable code. It stays where it is, and is given back when this is dropped.
pub(crate) struct Code {
    /// Taken only to be freed.
    module: Mutex<Option<JITModule>>,
}

/// A native function as bytes, with what it calls.
pub(crate) struct Compiled {
    code: Arc<Linkable>,
    relocations: Vec<ModuleReloc>,
}

/// From how many blocks on a function is compiled in one pass: a chain of some 10,000 `elsif`.
const LARGE: usize = 20_000;

/// The processor that this runs on, and two ways to generate code for it.
pub(crate) struct Host {
    /// Registers are allocated by backtracking.
    pub(crate) isa: OwnedTargetIsa,
    /// Registers are allocated in one pass: the code is slower, but the time to generate it is
    /// proportional to its size, where backtracking needs almost the square of it.
    one_pass: OwnedTargetIsa,
    /// From how many blocks on a function is compiled in one pass.
    large: usize,
}

impl Host {
    pub(crate) fn new() -> Result<Self, Error> {
        let (isa, one_pass) = (target("backtracking")?, target("single_pass")?);
        Ok(Host { isa, one_pass, large: LARGE })
    }

    /// Compiles all functions in one pass.
    pub(crate) fn in_one_pass(self) -> Self {
        Host { large: 0, ..self }
    }

    fn isa_for(&self, function: &Function) -> &dyn TargetIsa {
        match function.dfg.num_blocks() < self.large {
            true => &*self.isa,
            false => &*self.one_pass,
        }
    }
}

/// This processor, with an algorithm that allocates registers.
fn target(registers: &str) -> Result<OwnedTargetIsa, Error> {
    let mut flags = settings::builder();
    let verify = if cfg!(debug_assertions) { "true" } else { "false" };
    let chosen = [
        ("opt_level", "speed"),
        ("regalloc_algorithm", registers),
        ("is_pic", "false"),
        ("use_colocated_libcalls", "false"),
        ("unwind_info", "false"),
        ("enable_verifier", verify),
    ];
    for (name, value) in chosen {
        flags.set(name, value).map_err(|error| Error::Host(error.to_string()))?;
    }
    let builder = cranelift_native::builder().map_err(|name| Error::Host(name.to_owned()))?;
    let flags = settings::Flags::new(flags);
    builder.finish(flags).map_err(|error| Error::Host(error.to_string()))
}

/// Does `count` pieces of work, on more than one thread if that pays, and gives all results in
/// order, or the first error. Each thread has a `means` of its own.
pub(crate) fn in_parallel<M, T: Send>(
    count: usize,
    means: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    let available = thread::available_parallelism().map_or(1, usize::from);
    let threads = available.min(count / WORTH_A_THREAD).max(1);
    let next = AtomicUsize::new(0);
    let one_thread = || {
        let mut means = means();
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let numbers = numbers.take_while(|&number| number < count);
        numbers.map(|number| (number, work(&mut means, number))).collect::<Vec<_>>()
    };
    let mut done = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(one_thread)).collect();
        let mut done = one_thread();
        for other in others {
            match other.join() {
                Ok(more) => done.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What a thread compiles with, kept from one function to the next: most functions are small, and
/// the memory that the code generator works in costs much of the time they take.
pub(crate) struct FunctionCompiler {
    pub(crate) builders: FunctionBuilderContext,
    generator: cranelift_codegen::Context,
}

impl FunctionCompiler {
    pub(crate) fn new() -> Self {
        let (builders, generator) =
            (FunctionBuilderContext::new(), cranelift_codegen::Context::new());
        FunctionCompiler { builders, generator }
    }

    /// Compiles a native function, unless the cache has it. `number` is its own number among those
    /// of [`Code::new`].
    pub(crate) fn compile(
        &mut self,
        host: &Host,
        cache: Option<&CodeCache>,
        number: usize,
        function: Function,
    ) -> Result<Compiled, Error> {
        let id = FuncId::from_u32(number as u32);
        let (code, function) = match cache {
            None => (Arc::new(self.generate(host, function)?), &self.generator.func),
            Some(cache) => {
                let generate = || self.generate(host, function.clone());
                (cache.code(&function.stencil, generate)?, &function)
            }
        };
        let relocations = code.relocations.iter();
        let relocations =
            relocations.map(|each| ModuleReloc::from_mach_reloc(each, function, id)).collect();
        Ok(Compiled { code, relocations })
    }

    /// Has Cranelift generate the code of a function.
    fn generate(&mut self, host: &Host, function: Function) -> Result<Linkable, Error> {
        let context = &mut self.generator;
        context.clear();
        let isa = host.isa_for(&function);
        context.func = function;
        let code = context
            .compile(isa, &mut ControlPlane::default())
            .map_err(|error| Error::Compilation(format!("{:?}", error.inner)))?;
        Ok(Linkable {
            bytes: code.code_buffer().to_vec(),
            alignment: u64::from(code.buffer.alignment),
            relocations: code.buffer.relocs().to_vec(),
        })
    }
}

impl Code {
    /// Makes compiled functions callable. A call inside them names the callee by its position in
    /// `functions`. Gives the entry of each function.
    pub(crate) fn new(host: Host, functions: &[Compiled]) -> Result<(Self, Vec<*const u8>), Error> {
        let link = |error: cranelift_module::ModuleError| Error::Compilation(error.to_string());
        let convention = host.isa.default_call_conv();
        let mut module = JITModule::new(JITBuilder::with_isa(host.isa, default_libcall_names()));
        // The linker does not look at signatures.
        let signature = cranelift_codegen::ir::Signature::new(convention);
        let mut ids = Vec::with_capacity(functions.len());
        for _ in functions {
            ids.push(module.declare_anonymous_function(&signature).map_err(link)?);
        }
        for (&id, function) in ids.iter().zip(functions) {
            let Compiled { code, relocations } = function;
            let Linkable { bytes, alignment, .. } = &**code;
            module.define_function_bytes(id, *alignment, bytes, relocations).map_err(link)?;
        }
        module.finalize_definitions().map_err(link)?;
        let entries = ids.iter().map(|&id| module.get_finalized_function(id)).collect();
        Ok((Code { module: Mutex::new(Some(module)) }, entries))
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        let module = match self.module.get_mut() {
            Ok(module) => module.take(),
            Err(poisoned) => poisoned.into_inner().take(),
        };
        if let Some(module) = module {
            // SAFETY: entries are kept only beside the code they belong to, in a `Program`, which
            // every machine that calls them keeps alive; so none is running or called later.
            unsafe { module.free_memory() };
        }
    }
}
