//! What native code asks of the host, and the memory they share.
//!
//! Everything here is `extern "C"`: a panic (which only a failed allocation could cause) aborts the
//! process instead of unwinding through native frames; one of the caller's own, in what it does
//! with a full batch, is kept and goes on after the call. All pointers come from native code, which
//! computes them from the state, the context and the arena that `machine` hands in; each function
//! states what it takes for granted.

use std::any::Any;
use std::mem::size_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use murphi::machine::{Firing, Outcome, Successors};

use crate::orders::{Orders, Trial};
use crate::shape::{Multiset, Shape, Shapes};

/// What one call into native code works with.
#[repr(C)]
pub(crate) struct Context {
    /// Where the next state goes; there is room for `room` of them.
    pub(crate) next_state: *mut u8,
    /// Where the next firing goes; there is room for `room` of them.
    pub(crate) next_firing: *mut Firing,
    /// Where the lines go that the next firing has written, if the program tracks them.
    pub(crate) next_written: *mut u64,
    /// The lines of the state that were written since the body was begun.
    pub(crate) written: u64,
    /// How many firings, with their states, fit before `make_room` must be called.
    pub(crate) room: u64,
    /// Memory for locals that are too large for the stack.
    pub(crate) arena: *mut u8,
    /// The same for guards.
    pub(crate) guard_arena: *mut u8,
    /// For each property, whether it is a cover that has held.
    pub(crate) covered: *mut bool,
    /// The batch that is being written.
    pub(crate) out: *mut Successors,
    /// Whether to stop; long loops look at it.
    pub(crate) stop: *const AtomicBool,
    /// How many calls of recursive functions are open.
    pub(crate) recursion: u64,
    /// How far the arena of a recursive function is from that of its caller.
    pub(crate) arena_step: u64,
    /// Where the stack of recursive functions ends.
    pub(crate) stack_end: u64,
    /// Not 0 if a recursive function has met the end of the stack, so that all of this run must be
    /// done again on a larger one.
    pub(crate) overflowed: u64,
    /// The shapes of the model's types.
    pub(crate) shapes: *const Shapes,
    /// For each type that something clears, where its cleared value is.
    pub(crate) cleared: *const usize,
    /// The results of functions that are kept while the state is the same.
    pub(crate) results: *mut u64,
    /// What a kept result of this run begins with; its lowest bits are 0.
    pub(crate) run: u64,
    /// The order in which tried loops go through members.
    pub(crate) order: *const u16,
    /// Not 0 if a tried loop was run since a body was begun.
    pub(crate) looped: u64,
    /// Null if there are no tried loops.
    orders: *const Orders,
    /// The rule that is being run in every order; null if none is to be.
    pub(crate) trial: *mut Trial,
    /// Whether the code says which lines of a state it writes.
    tracks: bool,
    /// How large the batch may be; null if it may have any size.
    portions: *mut Portions<'static>,
}

/// What is the same in every call into the code of a program. The code finds it here and contains
/// none of it, so that programs can share native functions.
#[derive(Clone, Copy)]
pub(crate) struct Constants {
    pub(crate) arena_step: u64,
    pub(crate) shapes: *const Shapes,
    pub(crate) cleared: *const usize,
    /// Null if there are no tried loops.
    pub(crate) orders: *const Orders,
    pub(crate) tracks: bool,
}

/// How large a batch may be, and what to do with it then.
pub(crate) struct Portions<'a> {
    /// The most firings, at least 1.
    pub(crate) most: usize,
    pub(crate) full: &'a mut dyn FnMut(&mut Successors),
    /// What `full` panicked with.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

impl Portions<'_> {
    /// Hands a full batch on and empties it. Says how many firings it has room for then.
    fn hand_on(&mut self, out: &mut Successors) -> usize {
        if out.firings.len() >= self.most {
            if self.panic.is_none() {
                self.panic = catch_unwind(AssertUnwindSafe(|| (self.full)(out))).err();
            }
            out.clear();
        }
        self.most - out.firings.len()
    }
}

/// How many firings there is room for at first.
const ROOM: usize = 64;

impl Context {
    /// What native code that appends nothing works with.
    pub(crate) fn new(
        arena: *mut u8,
        guard_arena: *mut u8,
        covered: *mut bool,
        stop: *const AtomicBool,
        constants: Constants,
    ) -> Context {
        // SAFETY: the orders of a program live as long as it does, which its machines share.
        let orders = unsafe { constants.orders.as_ref() };
        Context {
            next_state: std::ptr::null_mut(),
            next_firing: std::ptr::null_mut(),
            next_written: std::ptr::null_mut(),
            written: 0,
            room: 0,
            arena,
            guard_arena,
            covered,
            out: std::ptr::null_mut(),
            stop,
            recursion: 0,
            arena_step: constants.arena_step,
            stack_end: 0,
            overflowed: 0,
            shapes: constants.shapes,
            cleared: constants.cleared,
            results: std::ptr::null_mut(),
            run: 0,
            order: orders.map_or(std::ptr::null(), Orders::natural),
            looped: 0,
            orders: constants.orders,
            trial: std::ptr::null_mut(),
            tracks: constants.tracks,
            portions: std::ptr::null_mut(),
        }
    }

    /// Readies a batch for native code to append to.
    ///
    /// # Safety
    ///
    /// Until [`Context::finish`], nothing but native code and this module may use `out` and
    /// `portions`.
    pub(crate) unsafe fn begin(&mut self, out: *mut Successors, portions: *mut Portions<'_>) {
        self.out = out;
        self.portions = portions.cast();
        // SAFETY: `out` is valid, as the caller promises.
        unsafe {
            if self.tracks {
                let out = &mut *out;
                // Of firings of another machine, nothing is known.
                out.written.resize(out.firings.len(), u64::MAX);
            }
            self.attach();
        }
    }

    /// Room for how many more firings may be made. A batch that is full is handed on first.
    ///
    /// # Safety
    ///
    /// Between [`Context::begin`] and [`Context::finish`], with all firings taken into the batch.
    unsafe fn greatest_room(&mut self) -> usize {
        // SAFETY: both are valid until `finish`, and not used by anybody else meanwhile.
        unsafe {
            match self.portions.as_mut() {
                Some(portions) => portions.hand_on(&mut *self.out),
                None => usize::MAX,
            }
        }
    }

    /// Takes the written firings and states into the batch.
    ///
    /// # Safety
    ///
    /// `out` is still valid, and native code has written whole firings only.
    pub(crate) unsafe fn finish(&mut self) {
        // SAFETY: between `attach` and here, `next_firing` was moved from the end of the firings
        // by one for each firing that was written, with its state, inside the reserved room.
        unsafe {
            let out = &mut *self.out;
            let written = self.next_firing.offset_from(out.firings.as_ptr()) as usize;
            out.firings.set_len(written);
            out.states.set_len(written * out.size);
            if self.tracks {
                // There is one for each firing.
                out.written.set_len(written);
            }
        }
    }

    /// Points to the free room of the batch.
    ///
    /// # Safety
    ///
    /// As for [`Context::greatest_room`].
    unsafe fn attach(&mut self) {
        // SAFETY: the pointers are to the end of what is initialised, inside the allocation.
        unsafe {
            let out = &mut *self.out;
            let spare_states = match out.size {
                0 => usize::MAX,
                size => (out.states.capacity() - out.states.len()) / size,
            };
            let mut spare = spare_states.min(out.firings.capacity() - out.firings.len());
            if self.tracks {
                spare = spare.min(out.written.capacity() - out.written.len());
            }
            // What was reserved may have become more than a portion takes.
            let spare = match self.portions.as_ref() {
                Some(portions) => spare.min(portions.most.saturating_sub(out.firings.len())),
                None => spare,
            };
            self.next_state = out.states.as_mut_ptr().add(out.states.len());
            self.next_firing = out.firings.as_mut_ptr().add(out.firings.len());
            self.next_written = out.written.as_mut_ptr().add(out.written.len());
            self.room = spare as u64;
        }
    }
}

/// Makes room for more firings; called when `room` is 0.
///
/// # Safety
///
/// `context` was made by [`Context::begin`] and is not finished.
pub(crate) unsafe extern "C" fn make_room(context: *mut Context) {
    // SAFETY: native code hands on the context it was given.
    unsafe {
        let context = &mut *context;
        context.finish();
        let greatest = context.greatest_room();
        let out = &mut *context.out;
        let more = out.firings.len().max(ROOM).min(greatest);
        out.firings.reserve_exact(more);
        out.states.reserve_exact(more * out.size);
        if context.tracks {
            out.written.reserve_exact(more);
        }
        context.attach();
    }
}

/// Called after a body that ran a tried loop: 1 if it is to be run again, in the order that the context
/// has then, else 0. What a rule led to in another order than the natural one is forgotten.
///
/// # Safety
///
/// As for [`make_room`]; the body has recorded a firing, unless it was to stop.
pub(crate) unsafe extern "C" fn another_order(context: *mut Context) -> u64 {
    // SAFETY: native code hands on the context it was given. The last firing and its state are before
    // `next_firing` and `next_state`, in the same batch, if there is one; who wrote them moved these
    // pointers, so moving them back leaves the batch as it was before.
    unsafe {
        let context = &mut *context;
        context.looped = 0;
        let (Some(orders), Some(trial)) = (context.orders.as_ref(), context.trial.as_mut()) else {
            return 0;
        };
        let out = &*context.out;
        let is_cut_short = context.overflowed != 0
            || (*context.stop).load(Relaxed)
            || std::ptr::eq(context.next_firing, out.firings.as_ptr());
        if is_cut_short {
            trial.reset();
            context.order = orders.natural();
            return 0;
        }
        let firing = context.next_firing.sub(1);
        let state = context.next_state.sub(out.size);
        let is_first = trial.is_first();
        let led_to = ((*firing).outcome, std::slice::from_raw_parts(state, out.size));
        let next = trial.next(orders, &*context.shapes, led_to);
        if !is_first {
            (context.next_firing, context.next_state) = (firing, state);
            if context.tracks {
                context.next_written = context.next_written.sub(1);
            }
            context.room += 1;
        }
        context.order = next.unwrap_or(orders.natural());
        u64::from(next.is_some())
    }
}

/// Records that `count` instances from `first` on ended without a successor.
///
/// # Safety
///
/// As for [`make_room`]; `outcome` is the number of an [`Outcome`].
pub(crate) unsafe extern "C" fn record(
    context: *mut Context,
    rule: u64,
    first: u64,
    count: u64,
    outcome: u64,
) {
    let outcome = match outcome {
        2 => Outcome::Excluded,
        _ => Outcome::GuardFailed,
    };
    // SAFETY: as in `make_room`. The states of these firings mean nothing, but are initialised.
    unsafe {
        let context = &mut *context;
        context.finish();
        let mut next = first;
        while next < first + count && !(*context.stop).load(Relaxed) {
            let greatest = context.greatest_room() as u64;
            let out = &mut *context.out;
            let end = (first + count).min(next.saturating_add(greatest));
            let firing = |instance| Firing { rule: rule as u32, instance, outcome };
            out.firings.extend((next..end).map(firing));
            out.states.resize(out.firings.len() * out.size, 0);
            if context.tracks {
                out.written.resize(out.firings.len(), u64::MAX);
            }
            next = end;
        }
        context.attach();
    }
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
///
/// `size` bytes may be read at `from` and written at `to`.
pub(crate) unsafe extern "C" fn copy(to: *mut u8, from: *const u8, size: u64) {
    // SAFETY: as the caller promises.
    unsafe { std::ptr::copy(from, to, size as usize) }
}

/// Sets bytes to zero.
///
/// # Safety
///
/// `size` bytes may be written at `to`.
pub(crate) unsafe extern "C" fn zero(to: *mut u8, size: u64) {
    // SAFETY: as the caller promises.
    unsafe { std::ptr::write_bytes(to, 0, size as usize) }
}

/// Whether two values of the type with the number `ty` are the same: 1 or 0.
///
/// # Safety
///
/// `left` and `right` are well-formed values of that type, and `shapes` outlives the call.
pub(crate) unsafe extern "C" fn same(
    shapes: *const Shapes,
    ty: u64,
    left: *const u8,
    right: *const u8,
) -> u64 {
    // SAFETY: as the caller promises; the size of a type is what `Shapes` says.
    unsafe {
        let shapes = &*shapes;
        let size = shapes.size(ty as usize);
        let left = std::slice::from_raw_parts(left, size);
        let right = std::slice::from_raw_parts(right, size);
        u64::from(shapes.same(ty as usize, left, right))
    }
}

/// Removes elements from the multiset of type `ty` at `multiset`: those in the first `judged`
/// rooms whose byte in `removed` is not 0.
///
/// # Safety
///
/// `multiset` is a well-formed multiset of that type, and `removed` has `judged` bytes.
pub(crate) unsafe extern "C" fn remove_where(
    shapes: *const Shapes,
    ty: u64,
    multiset: *mut u8,
    removed: *const u8,
    judged: u64,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let (multiset, bytes) = multiset_at(shapes, ty, multiset);
        let removed = std::slice::from_raw_parts(removed, judged as usize);
        for (room, _) in removed.iter().enumerate().filter(|&(_, &removed)| removed != 0) {
            multiset.remove_at(bytes, room);
        }
    }
}

/// Removes the element in a room of the multiset of type `ty` at `multiset`.
///
/// # Safety
///
/// `multiset` is a well-formed multiset of that type.
pub(crate) unsafe extern "C" fn remove_at(
    shapes: *const Shapes,
    ty: u64,
    multiset: *mut u8,
    room: u64,
) {
    // SAFETY: as the caller promises.
    unsafe {
        let (multiset, bytes) = multiset_at(shapes, ty, multiset);
        multiset.remove_at(bytes, room as usize);
    }
}

/// Takes a vacant room of the multiset of type `ty` at `multiset` for a new element: the number of
/// the room, or all ones if there is none.
///
/// # Safety
///
/// `multiset` is a well-formed multiset of that type.
pub(crate) unsafe extern "C" fn refill(shapes: *const Shapes, ty: u64, multiset: *mut u8) -> u64 {
    // SAFETY: as the caller promises.
    unsafe {
        let (multiset, bytes) = multiset_at(shapes, ty, multiset);
        multiset.refill(bytes).map_or(u64::MAX, |room| room as u64)
    }
}

/// Closes the gaps that removals have left in the multisets of a state, of which these lines were
/// written.
///
/// # Safety
///
/// `state` is a well-formed state of `size` bytes of the model that the shapes are of.
pub(crate) unsafe extern "C" fn close_gaps(
    shapes: *const Shapes,
    state: *mut u8,
    size: u64,
    written: u64,
) {
    // SAFETY: as the caller promises.
    unsafe { (*shapes).close_gaps(std::slice::from_raw_parts_mut(state, size as usize), written) }
}

/// The layout and the bytes of a multiset.
///
/// # Safety
///
/// `bytes` are a well-formed multiset of the type `ty`, and nothing else uses them meanwhile.
unsafe fn multiset_at<'a>(
    shapes: *const Shapes,
    ty: u64,
    bytes: *mut u8,
) -> (&'a Multiset, &'a mut [u8]) {
    // SAFETY: as the caller promises.
    unsafe {
        let shapes = &*shapes;
        let bytes = std::slice::from_raw_parts_mut(bytes, shapes.size(ty as usize));
        match shapes.shape(ty as usize) {
            Shape::Multiset(multiset) => (multiset, bytes),
            // A panic aborts, so it cannot unwind through native frames.
            shape => unreachable!("{shape:?} is not a multiset"),
        }
    }
}

/// Bytes from one firing to the next.
pub(crate) const FIRING_SIZE: usize = size_of::<Firing>();
