//! A model run twice: by native code and by the reference interpreter.

use std::sync::{Arc, LazyLock};

use murphi::check::{Options, load};
use murphi::interpret::Interpreter;
use murphi::ir::Model;
use murphi::machine::{Check, Machine, Outcome, Successors, line_bits};
use murphi::source::Source;
use tribunal_native::{CodeCache, Error, Manner, NativeMachine, Program};

/// The native functions that models of all tests have in common.
static SHARED: LazyLock<CodeCache> = LazyLock::new(CodeCache::default);

/// Both machines of one model.
pub(crate) struct Both {
    pub(crate) model: Arc<Model>,
    pub(crate) interpreter: Interpreter,
    pub(crate) program: Arc<Program>,
    pub(crate) native: NativeMachine,
}

impl Both {
    /// Both machines of a model that shares its code with others.
    pub(crate) fn sharing(text: &str, cache: &CodeCache) -> Both {
        let source = Source { name: "shared.m".to_owned(), text: text.to_owned() };
        let checked = load(source, &Options::default()).expect("the model is correct");
        let model = Arc::new(checked.model);
        let interpreter = Interpreter::new(Arc::clone(&model)).expect("the model is small");
        let (layout, never) = (interpreter.layout(), &|| false);
        let program = Program::compile_unless(&model, layout, Some(cache), never)
            .expect("the model compiles");
        let native = program.machine();
        Both { model, interpreter, program, native }
    }

    pub(crate) fn of(name: &str, text: &str, options: &Options) -> Both {
        Both::unless_refused(name, text, options).expect("the model compiles")
    }

    /// Both machines, unless the model has what native code does not do: a function that calls
    /// itself, removes elements and is given one of them.
    pub(crate) fn unless_refused(name: &str, text: &str, options: &Options) -> Option<Both> {
        let source = Source { name: name.to_owned(), text: text.to_owned() };
        let checked =
            load(source, options).unwrap_or_else(|found| panic!("{name}: {found:#?}\n{text}"));
        let model = Arc::new(checked.model);
        let interpreter = Interpreter::new(Arc::clone(&model)).expect("the model is small");
        // Every other model shares its code with all that came before.
        let cache = text.len().is_multiple_of(2).then_some(&*SHARED);
        let layout = interpreter.layout();
        let manner = |tracks, in_one_pass| Manner { tracks, in_one_pass };
        let compiled = match text.len() % 4 {
            // Which lines are written is noted, though states are small; code is generated as for
            // functions of 20,000 blocks, though they are small.
            0 => Program::compile_in_manner(&model, layout, manner(true, false)),
            1 => Program::compile_in_manner(&model, layout, manner(true, true)),
            _ => Program::compile_unless(&model, layout, cache, &|| false),
        };
        let program = match compiled {
            Err(Error::ElementInRecursion) => return None,
            compiled => compiled.expect("the model compiles"),
        };
        let native = program.machine();
        Some(Both { model, interpreter, program, native })
    }

    pub(crate) fn start(&mut self) -> Successors {
        let size = self.program.state_size();
        let (mut expected, mut found) = (Successors::new(size), Successors::new(size));
        Machine::start(&mut self.interpreter, &mut expected);
        self.native.start(&mut found);
        agree(&expected, &found, "start");
        agree(&expected, &in_portions(&mut self.native, None, 2, size), "start in portions");
        found
    }

    pub(crate) fn expand(&mut self, state: &[u8]) -> Successors {
        let size = self.program.state_size();
        let (mut expected, mut found) = (Successors::new(size), Successors::new(size));
        self.interpreter.expand(state, &mut expected);
        self.native.expand(state, &mut found);
        agree(&expected, &found, "expand");
        assert_changes_are_noted(state, &found);
        for most in [1, 3] {
            let found = in_portions(&mut self.native, Some(state), most, size);
            agree(&expected, &found, "expand in portions");
            assert_changes_are_noted(state, &found);
        }
        found
    }

    pub(crate) fn check(&mut self, state: &[u8]) -> Check {
        let (expected, found) = (self.interpreter.check(state), self.native.check(state));
        assert_eq!(found, expected, "check");
        assert_eq!(self.native.covered(), self.interpreter.covered(), "covered");
        found
    }
}

/// All portions of a run, one after the other.
pub(crate) fn in_portions(
    machine: &mut impl Machine,
    state: Option<&[u8]>,
    most: usize,
    size: usize,
) -> Successors {
    let (mut all, mut last) = (Successors::new(size), Successors::new(size));
    let add = |all: &mut Successors, portion: &Successors| {
        all.firings.extend(&portion.firings);
        all.states.extend(&portion.states);
        all.written.extend(&portion.written);
    };
    machine.run_in_portions(state, most, &mut last, &mut |portion| {
        assert_eq!(portion.firings.len(), most, "a full portion");
        add(&mut all, portion);
    });
    assert!(last.firings.len() <= most);
    add(&mut all, &last);
    all
}

/// Whatever a rule has changed is in a line that it is said to have written, if that is said.
fn assert_changes_are_noted(state: &[u8], found: &Successors) {
    let line_bits = line_bits(state.len());
    for (number, firing) in found.firings.iter().enumerate() {
        if let Some(written) = found.written(number).filter(|_| firing.outcome == Outcome::Done) {
            let bytes = state.iter().zip(found.state(number)).enumerate();
            let missed = bytes
                .filter(|&(at, (old, new))| old != new && written >> (at >> line_bits) & 1 == 0);
            assert_eq!(missed.count(), 0, "changes that are not noted: {firing:?}");
        }
    }
}

fn agree(expected: &Successors, found: &Successors, what: &str) {
    assert_eq!(found.firings, expected.firings, "firings of {what}");
    assert_eq!(found.states.len(), expected.states.len(), "states of {what}");
    for (number, firing) in expected.firings.iter().enumerate() {
        if firing.outcome == Outcome::Done {
            assert_eq!(found.state(number), expected.state(number), "state after {firing:?}");
        }
    }
}
