//! What runs a Murphi model: native code where the host can compile it, else the reference
//! interpreter. Whoever searches or walks a model asks for an [`Engine`] and does not care which.
//!
//! A [`Hook`] puts something around each machine: an observer that notes what it sees, or a machine
//! that passes rules by that fail.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

use ::cluster::Lost;
use murphi::interpret::Interpreter;
use murphi::layout::Layout;
use murphi::machine::{Codec, Machine};
use native::{CodeCache, Program};

use crate::journal::noted;
use crate::result::{Liveness, Reason, Verdict};
use crate::symmetry::{Canonicalizer, Symmetry};
use crate::{BitCodec, Cluster, Exploration, MakeMachine, Options, Progress, System, explore, led};

/// A model that is ready to be run on any number of threads.
#[derive(Clone)]
pub enum Engine {
    /// By native code.
    Native(Arc<Program>),
    /// By the reference interpreter, and why: this host cannot compile the model.
    Interpreted(Box<Interpreter>, BitCodec, native::Error),
}

impl Engine {
    /// Compiles a model.
    pub fn new(interpreter: &Interpreter) -> Engine {
        Engine::compiled(interpreter, None, &|| false)
    }

    /// Compiles a model that has much in common with others: what is in the cache is not compiled
    /// again.
    pub fn sharing(interpreter: &Interpreter, cache: &CodeCache) -> Engine {
        Engine::compiled(interpreter, Some(cache), &|| false)
    }

    /// Compiles a model, or leaves it to the interpreter if `stop` says before the end that time is
    /// up. It is asked between functions, by any thread.
    pub fn new_unless(interpreter: &Interpreter, stop: &(dyn Fn() -> bool + Sync)) -> Engine {
        Engine::compiled(interpreter, None, stop)
    }

    fn compiled(
        interpreter: &Interpreter,
        cache: Option<&CodeCache>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Engine {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        match Program::compile_unless(model, layout, cache, stop) {
            Ok(program) => Engine::Native(program),
            Err(why) => {
                let codec = BitCodec::new(model, layout);
                Engine::Interpreted(Box::new(interpreter.clone()), codec, why)
            }
        }
    }

    /// A machine that runs the model; one for each thread.
    pub fn machine(&self) -> Box<dyn Machine> {
        match self {
            Engine::Native(program) => Box::new(program.machine()),
            Engine::Interpreted(interpreter, ..) => interpreter.clone(),
        }
    }

    /// Bytes of an unpacked state.
    pub fn state_size(&self) -> usize {
        match self {
            Engine::Native(program) => program.state_size(),
            Engine::Interpreted(interpreter, ..) => layout_size(interpreter.layout()),
        }
    }

    /// Whether some scalarsets can only be used as symmetries if rules are run in all orders of their
    /// members, and this engine can do that.
    fn can_try_orders(&self) -> bool {
        matches!(self, Engine::Native(program) if program.has_tried_loops())
    }

    /// Searches the model with full symmetry, also of scalarsets whose order may show in loops of
    /// rules, and runs these rules in all orders. If the order shows, the search ends, and nothing is
    /// known.
    pub(crate) fn explore_trying_orders(
        &self,
        interpreter: &Interpreter,
        options: &Options,
        progress: &mut dyn FnMut(&Progress),
        interrupt: &AtomicBool,
    ) -> Option<Exploration> {
        let Engine::Native(program) = self else { return None };
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let reduction = &Canonicalizer::trying(model, layout);
        let (state_size, rules) = (layout_size(layout), model.rules.len());
        let shows = Arc::new(AtomicBool::new(false));
        let machine = || -> Box<dyn Machine + '_> {
            let mut machine = program.machine();
            machine.try_orders(&shows);
            Box::new(machine)
        };
        let (machine, codec): (&MakeMachine<'_>, _) = (&machine, &**program);
        let system = System { machine, codec, reduction, state_size, rules };
        let either = Either::of(&shows, interrupt);
        let mut search = || either.watch(|stop| natively(options, &system, progress, stop));
        let Some(cluster) = &options.cluster else {
            let found = search();
            return (!shows.load(Ordering::SeqCst)).then_some(found);
        };
        cluster.expect_another(true);
        let found = search();
        let shown = match cluster.loss() {
            None => cluster.any(shows.load(Ordering::SeqCst)),
            Some(_) => Err(Lost),
        };
        cluster.expect_another(false);
        match shown {
            Ok(true) => None,
            Ok(false) => {
                cluster.part();
                Some(found)
            }
            // The lost process may have seen that the order shows.
            Err(Lost) => {
                let reason = cluster.loss().map_or(Reason::Interrupted, Reason::Lost);
                let verdict = Verdict::Undecided(reason);
                Some(Exploration { verdict, liveness: Liveness::Open, ..found })
            }
        }
    }

    /// Whether all processes that search together can try orders, if this one can.
    pub(crate) fn can_all_try_orders(&self, options: &Options) -> bool {
        match &options.cluster {
            None => self.can_try_orders(),
            Some(cluster) => cluster.any(!self.can_try_orders()) == Ok(false),
        }
    }

    /// Searches the model, which is the one that the interpreter runs. What a journal has is not searched
    /// again.
    pub fn explore<H: Hook>(
        &self,
        interpreter: &Interpreter,
        (options, symmetry): (&Options, Symmetry),
        hook: &H,
        progress: &mut dyn FnMut(&Progress),
        interrupt: &AtomicBool,
    ) -> Exploration {
        let how = (options, symmetry);
        match &options.journal {
            Some(journal) => {
                let search = || self.search(interpreter, how, hook, progress, interrupt);
                noted(journal, interpreter.model(), how, hook, search)
            }
            None => self.search(interpreter, how, hook, progress, interrupt),
        }
    }

    fn search<H: Hook>(
        &self,
        interpreter: &Interpreter,
        (options, symmetry): (&Options, Symmetry),
        hook: &H,
        progress: &mut dyn FnMut(&Progress),
        interrupt: &AtomicBool,
    ) -> Exploration {
        let (model, layout) = (interpreter.model(), interpreter.layout());
        let alone;
        let mut options = options;
        if let Some(cluster) = &options.cluster
            && !takes_part(cluster, hook.is_bare(), || {
                led::invite(cluster, model, options, symmetry)
            })
        {
            alone = Options { cluster: None, ..options.clone() };
            options = &alone;
        }
        let reduction = &Canonicalizer::new(model, layout, symmetry);
        let (state_size, rules) = (layout_size(layout), model.rules.len());
        match self {
            Engine::Native(program) => {
                let machine =
                    || -> Box<dyn Machine + '_> { Box::new(hook.around(program.machine())) };
                let (machine, codec): (&MakeMachine<'_>, _) = (&machine, &**program);
                let system = System { machine, codec, reduction, state_size, rules };
                natively(options, &system, progress, interrupt)
            }
            Engine::Interpreted(interpreter, codec, _) => {
                let machine =
                    || -> Box<dyn Machine + '_> { Box::new(hook.around((**interpreter).clone())) };
                let machine: &MakeMachine<'_> = &machine;
                let system = System { machine, codec, reduction, state_size, rules };
                interpreted(options, &system, progress, interrupt)
            }
        }
    }
}

/// Two flags, either of which ends a search.
struct Either<'a> {
    flags: [&'a AtomicBool; 2],
    /// Whether one is set.
    set: AtomicBool,
    /// Whether the search is over.
    over: AtomicBool,
}

impl<'a> Either<'a> {
    fn of(one: &'a AtomicBool, other: &'a AtomicBool) -> Self {
        let (set, over) = (AtomicBool::new(false), AtomicBool::new(false));
        Either { flags: [one, other], set, over }
    }

    /// Does something that ends soon after its flag is set, which it is soon after one of the two is.
    fn watch<T>(&self, work: impl FnOnce(&AtomicBool) -> T) -> T {
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !self.over.load(Ordering::SeqCst) {
                    if self.flags.iter().any(|flag| flag.load(Ordering::SeqCst)) {
                        self.set.store(true, Ordering::SeqCst);
                    }
                    std::thread::park_timeout(LOOK);
                }
            });
            let _over = Over(&self.over, watcher.thread().clone());
            work(&self.set)
        })
    }
}

/// How often flags are looked at.
const LOOK: Duration = Duration::from_millis(10);

/// Tells a watcher, when dropped, that there is nothing more to watch.
struct Over<'a>(&'a AtomicBool, Thread);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
        self.1.unpark();
    }
}

/// Searches a model that native code runs. Without type parameters, so that it is compiled here and
/// not in each crate that has a [`Hook`].
fn natively(
    options: &Options,
    system: &System<'_, &MakeMachine<'_>, Program, Canonicalizer>,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Exploration {
    explore(options, system, progress, interrupt)
}

/// Searches a model that the interpreter runs; likewise.
fn interpreted(
    options: &Options,
    system: &System<'_, &MakeMachine<'_>, BitCodec, Canonicalizer>,
    progress: &mut dyn FnMut(&Progress),
    interrupt: &AtomicBool,
) -> Exploration {
    explore(options, system, progress, interrupt)
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Native(_) => f.write_str("Native"),
            Engine::Interpreted(_, _, why) => write!(f, "Interpreted: {why}"),
        }
    }
}

fn layout_size(layout: &Layout) -> usize {
    layout.size as usize
}

impl Codec for Engine {
    fn packed_size(&self) -> usize {
        match self {
            Engine::Native(program) => program.packed_size(),
            Engine::Interpreted(_, codec, _) => codec.packed_size(),
        }
    }

    fn pack(&self, state: &[u8], packed: &mut [u8]) {
        match self {
            Engine::Native(program) => program.pack(state, packed),
            Engine::Interpreted(_, codec, _) => codec.pack(state, packed),
        }
    }

    fn unpack(&self, packed: &[u8], state: &mut [u8]) {
        match self {
            Engine::Native(program) => program.unpack(packed, state),
            Engine::Interpreted(_, codec, _) => codec.unpack(packed, state),
        }
    }
}

/// Whether several processes make a search: what is put around machines is not sent to others.
fn takes_part(cluster: &Cluster, is_bare: bool, invite: impl FnOnce() -> bool) -> bool {
    let is_leader = cluster.is_led() && cluster.process() == 0;
    !is_leader || (is_bare && invite())
}

/// What is put around each machine of a search.
pub trait Hook: Sync {
    /// The machine with it around.
    type Around<M: Machine>: Machine;

    /// Whether nothing is put around machines, so that other processes can make the same search.
    fn is_bare(&self) -> bool {
        false
    }

    /// What it has seen, if that can be kept in a [`Journal`](crate::Journal).
    fn seen(&self) -> Option<Vec<u8>> {
        self.is_bare().then(Vec::new)
    }

    /// Sees at once what was seen in a search that is not made again. Says whether that could be read.
    fn see(&self, _seen: &[u8]) -> bool {
        self.is_bare()
    }

    /// Whether it has ended the search, since it has seen enough.
    fn has_enough(&self) -> bool {
        false
    }

    /// Puts it around a machine.
    fn around<M: Machine>(&self, machine: M) -> Self::Around<M>;
}

/// Nothing is put around machines.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bare;

impl Hook for Bare {
    type Around<M: Machine> = M;

    fn is_bare(&self) -> bool {
        true
    }

    fn around<M: Machine>(&self, machine: M) -> M {
        machine
    }
}
