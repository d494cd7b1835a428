//! Where values live while a rule runs: the state variables and a stack of frames.
//!
//! A place of the source becomes an [`Address`] once, when it is evaluated or bound; from then on
//! the address means the same component, whatever happens to the variables in its indices. Only
//! an element of a multiset can disappear under its address, and then it is gone for the rest of
//! the run: what is added in its room has a position of another name.

use crate::ir::{Frame, LocalId, Model, Storage, TypeId};
use crate::value::{State, Value, component};

/// A component of a variable.
#[derive(Debug, Clone)]
pub(super) struct Address {
    root: Root,
    /// Numbers of fields, places of array elements from 0, positions in multisets.
    path: Steps,
    /// Whether it leads through an element of a multiset, so that it may not be there any more.
    may_vanish: bool,
}

/// How many steps of an address are kept without room of their own.
const FEW: usize = 6;

/// The steps of an address: in `few` unless they are too many.
#[derive(Debug, Clone)]
struct Steps {
    length: usize,
    few: [usize; FEW],
    many: Vec<usize>,
}

impl Steps {
    const NONE: Steps = Steps { length: 0, few: [0; FEW], many: Vec::new() };

    fn push(&mut self, step: usize) {
        match self.few.get_mut(self.length) {
            Some(next) => *next = step,
            None => {
                if self.many.is_empty() {
                    self.many.extend(self.few);
                }
                self.many.push(step);
            }
        }
        self.length += 1;
    }

    fn all(&self) -> &[usize] {
        if self.length <= FEW { &self.few[..self.length] } else { &self.many }
    }
}

/// What is added in the room of an element that was removed in the same run is at the position of
/// that room plus this, so that no reference to the removed element leads to it.
const REFILLED: usize = 1 << 32;

/// A variable.
#[derive(Debug, Clone, Copy)]
enum Root {
    Global(usize),
    Local { depth: usize, local: usize },
}

/// What a local holds.
#[derive(Debug, Clone)]
pub(super) enum Slot {
    Value(Value),
    Reference(Address),
    /// A reference before it is bound.
    Unbound,
}

/// The locals of one rule, property or function that is being executed.
struct Activation<'m> {
    frame: &'m Frame,
    slots: Vec<Slot>,
}

/// The state variables and all frames.
pub(super) struct Memory<'m> {
    model: &'m Model,
    globals: Vec<Value>,
    /// The state variables that were written since the last [`Memory::restore`], as they were then.
    before: Vec<(usize, Value)>,
    stack: Vec<Activation<'m>>,
    /// Room for the locals of a frame, empty.
    room: Vec<Slot>,
}

/// The element of a multiset that an address leads through is not there any more.
#[derive(Debug)]
pub(super) struct Vanished;

impl<'m> Memory<'m> {
    pub(super) fn new(model: &'m Model, state: State) -> Self {
        Memory { model, globals: state.0, before: Vec::new(), stack: Vec::new(), room: Vec::new() }
    }

    pub(super) fn into_state(mut self) -> State {
        self.close_gaps();
        State(self.globals)
    }

    /// Closes the gaps in multisets. Only what was written can have any.
    pub(super) fn close_gaps(&mut self) {
        for (global, _) in &self.before {
            self.globals[*global].close_gaps();
        }
    }

    /// The state variables that were written since the last [`Memory::restore`], and their values.
    pub(super) fn written(&self) -> impl Iterator<Item = (usize, &Value)> {
        self.before.iter().map(|(global, _)| (*global, &self.globals[*global]))
    }

    /// Takes back what was written, and leaves all frames.
    pub(super) fn restore(&mut self) {
        for (global, value) in self.before.drain(..) {
            self.globals[global] = value;
        }
        self.stack.truncate(1);
        if let Some(first) = self.stack.pop() {
            self.room = first.slots;
            self.room.clear();
        }
    }

    /// No slots, with room for some.
    pub(super) fn no_slots(&mut self) -> Vec<Slot> {
        std::mem::take(&mut self.room)
    }

    /// Enters a frame. Its first locals take what is in `first`; the others are undefined.
    pub(super) fn enter(&mut self, frame: &'m Frame, first: Vec<Slot>) {
        let mut slots = first;
        for local in &frame.locals[slots.len()..] {
            slots.push(match local.storage {
                Storage::Reference => Slot::Unbound,
                Storage::Own | Storage::Bound => {
                    Slot::Value(Value::undefined(self.model, local.ty))
                }
            });
        }
        self.stack.push(Activation { frame, slots });
    }

    pub(super) fn leave(&mut self) {
        self.stack.pop();
    }

    /// How many frames have been entered and not left.
    pub(super) fn depth(&self) -> usize {
        self.stack.len()
    }

    /// Leaves frames until so many are left.
    pub(super) fn leave_to(&mut self, depth: usize) {
        self.stack.truncate(depth);
    }

    /// Gives a local of the current frame what it holds.
    pub(super) fn bind(&mut self, local: LocalId, slot: Slot) {
        let activation = self.stack.last_mut().expect("a frame is entered before its code runs");
        activation.slots[local.0 as usize] = slot;
    }

    /// The declared type of a local of the current frame.
    pub(super) fn local_type(&self, local: LocalId) -> TypeId {
        let activation = self.stack.last().expect("a frame is entered before its code runs");
        activation.frame.locals[local.0 as usize].ty
    }

    pub(super) fn global(&self, global: usize) -> Address {
        Address { root: Root::Global(global), path: Steps::NONE, may_vanish: false }
    }

    /// The address of a local of the current frame, or of what it refers to.
    pub(super) fn local(&self, local: LocalId) -> Address {
        let depth = self.stack.len() - 1;
        match &self.stack[depth].slots[local.0 as usize] {
            Slot::Value(_) => {
                let root = Root::Local { depth, local: local.0 as usize };
                Address { root, path: Steps::NONE, may_vanish: false }
            }
            Slot::Reference(address) => address.clone(),
            Slot::Unbound => unreachable!("an alias is bound before the code it is visible in"),
        }
    }

    /// The value of a bound local of the current frame, or of a parameter, if it is simple.
    pub(super) fn simple(&self, local: LocalId) -> Option<i64> {
        match &self.stack.last()?.slots[local.0 as usize] {
            Slot::Value(Value::Simple(value)) => *value,
            _ => None,
        }
    }

    pub(super) fn read(&self, address: &Address) -> Result<&Value, Vanished> {
        let mut value = match address.root {
            Root::Global(global) => &self.globals[global],
            Root::Local { depth, local } => match &self.stack[depth].slots[local] {
                Slot::Value(value) => value,
                Slot::Reference(_) | Slot::Unbound => {
                    unreachable!("the root of an address holds a value")
                }
            },
        };
        for &step in address.path.all() {
            value = match value {
                Value::Record(values) | Value::Array(values) => &values[step],
                Value::Multiset(values) => element(values, step)?,
                Value::Simple(_) | Value::Removed(_) => unreachable!("it has no components"),
            };
        }
        Ok(value)
    }

    pub(super) fn write(&mut self, address: &Address) -> Result<&mut Value, Vanished> {
        let mut value = match address.root {
            Root::Global(global) => {
                if self.before.iter().all(|(kept, _)| *kept != global) {
                    self.before.push((global, self.globals[global].clone()));
                }
                &mut self.globals[global]
            }
            Root::Local { depth, local } => match &mut self.stack[depth].slots[local] {
                Slot::Value(value) => value,
                Slot::Reference(_) | Slot::Unbound => {
                    unreachable!("the root of an address holds a value")
                }
            },
        };
        for &step in address.path.all() {
            value = match value {
                Value::Record(values) | Value::Array(values) => &mut values[step],
                Value::Multiset(values) => element_mut(values, step)?,
                Value::Simple(_) | Value::Removed(_) => unreachable!("it has no components"),
            };
        }
        Ok(value)
    }

    /// The address in the words of the source, such as `cache[Proc_1].state`.
    pub(super) fn render(&self, address: &Address) -> String {
        let (mut path, mut ty) = match address.root {
            Root::Global(global) => {
                (self.model.globals[global].name.clone(), self.model.globals[global].ty)
            }
            Root::Local { depth, local } => {
                let local = &self.stack[depth].frame.locals[local];
                (local.name.clone(), local.ty)
            }
        };
        for &step in address.path.all() {
            (path, ty) = component(self.model, ty, &path, step % REFILLED);
        }
        path
    }
}

impl Address {
    /// The component at `step` of what is at this address.
    pub(super) fn push(&mut self, step: usize) {
        self.path.push(step);
    }

    /// The element at a position of the multiset at this address.
    pub(super) fn push_element(&mut self, position: usize) {
        self.path.push(position);
        self.may_vanish = true;
    }

    /// Whether it leads through an element of a multiset.
    pub(super) fn may_vanish(&self) -> bool {
        self.may_vanish
    }
}

/// The position of the element in a room of a multiset, if there is one.
pub(super) fn position_of_room(values: &[Value], room: usize) -> Option<usize> {
    match values.get(room)? {
        Value::Removed(None) => None,
        Value::Removed(Some(_)) => Some(room + REFILLED),
        _ => Some(room),
    }
}

/// The room that belongs to the position of an element.
pub(super) fn room_of_position(position: usize) -> usize {
    position % REFILLED
}

/// The element at a position of a multiset.
pub(super) fn element(values: &[Value], position: usize) -> Result<&Value, Vanished> {
    match (values.get(position % REFILLED), position >= REFILLED) {
        (Some(Value::Removed(Some(added))), true) => Ok(added),
        (Some(Value::Removed(_)) | None, _) | (Some(_), true) => Err(Vanished),
        (Some(value), false) => Ok(value),
    }
}

fn element_mut(values: &mut [Value], position: usize) -> Result<&mut Value, Vanished> {
    match (values.get_mut(position % REFILLED), position >= REFILLED) {
        (Some(Value::Removed(Some(added))), true) => Ok(added),
        (Some(Value::Removed(_)) | None, _) | (Some(_), true) => Err(Vanished),
        (Some(value), false) => Ok(value),
    }
}
