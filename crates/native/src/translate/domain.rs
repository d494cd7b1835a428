//! Loops over what a bound variable goes through.
//!
//! Every loop counts from 0 in steps of 1, and the variable is computed from the count: for types
//! and plain ranges that is a bias known before the run. The domain is fixed before the first
//! round. The test is at the end, so a domain that is never empty costs one branch per round.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use murphi::ir::{Binder, Domain, Expression, Place, TypeId};

use std::mem::offset_of;

use super::Translator;
use super::memory::plain;
use super::operand::{Bounds, Operand};
use super::place::{Address, Binding};
use crate::host::Context;
use crate::shape::{REFILLED, VACANT};

/// Loops that go round more often than this, together with those around them, look at whether to
/// stop.
const SHORT: u64 = 64;

/// A loop whose body is being translated.
pub(super) struct Loop {
    body: Block,
    /// Where a round ends.
    pub(super) latch: Block,
    /// Where the loop ends.
    pub(super) exit: Block,
    /// The number of the round.
    pub(super) round: Operand,
    rounds: Rounds,
}

/// How often a loop goes round.
#[derive(Clone, Copy)]
pub(super) enum Rounds {
    Fixed(u64),
    Counted {
        rounds: Value,
        /// There are never more.
        most: u64,
    },
}

impl<'m> Translator<'_, 'm> {
    /// Begins a loop; the translation goes on in its body.
    pub(super) fn begin_loop(&mut self, rounds: Rounds) -> Loop {
        let [body, latch, exit] = [(); 3].map(|()| self.block());
        let zero = self.constant(0);
        let most = match rounds {
            Rounds::Fixed(most) | Rounds::Counted { most, .. } => most,
        };
        let around = self.rounds.last().copied().unwrap_or(1);
        self.rounds.push(around.saturating_mul(most));
        if let Rounds::Fixed(1) = rounds {
            self.jump(body);
            self.enter(body);
            return Loop { body, latch, exit, round: Operand::constant(0), rounds };
        }
        let round = self.builder.append_block_param(body, types::I64);
        match rounds {
            Rounds::Fixed(0) => self.jump(exit),
            Rounds::Fixed(_) => self.jump_with(body, zero),
            Rounds::Counted { rounds, .. } => {
                self.builder.ins().brif(rounds, body, &[zero.into()], exit, &[]);
            }
        }
        self.builder.switch_to_block(body);
        let last = i64::try_from(most.saturating_sub(1)).unwrap_or(i64::MAX);
        let round = Operand::register(round, Bounds::new(0, last));
        Loop { body, latch, exit, round, rounds }
    }

    /// Ends a loop whose rounds all lead to its latch; the translation goes on after it.
    pub(super) fn end_loop(&mut self, each: Loop) {
        self.enter(each.latch);
        if self.rounds.pop().is_some_and(|rounds| rounds > SHORT) {
            self.leave_if_stopped();
        }
        let rounds = match each.rounds {
            Rounds::Fixed(1) => None,
            Rounds::Fixed(rounds) => Some(self.constant(rounds as i64)),
            Rounds::Counted { rounds, .. } => Some(rounds),
        };
        match rounds {
            None => self.jump(each.exit),
            Some(rounds) => {
                let next = self.shifted(each.round, 1);
                let more = self.builder.ins().icmp(IntCC::UnsignedLessThan, next, rounds);
                self.builder.ins().brif(more, each.body, &[next.into()], each.exit, &[]);
                self.builder.seal_block(each.body);
            }
        }
        self.enter(each.exit);
    }

    /// Begins a loop over a domain and binds its variable.
    pub(super) fn begin_domain(&mut self, binder: &'m Binder) -> Loop {
        let (each, value) = match &binder.domain {
            Domain::Type(ty) => {
                let each = self.begin_loop(Rounds::Fixed(self.model().count(*ty)));
                let lowest = self.model().lowest(*ty);
                let value = each.round.plus(lowest, Bounds::of(self.model(), *ty));
                (each, value)
            }
            Domain::Range { from, to, by } => self.begin_range(from, to, by),
            Domain::Multiset(place) => {
                let address = self.locate_memory(place);
                let rounds = self.rooms(&address, place.ty);
                let each = self.begin_loop(rounds);
                let position = self.position_in_round(&each, &address, place.ty);
                (each, position)
            }
        };
        self.scope.bind(binder.local, Binding::Value(value));
        each
    }

    /// Begins a loop that is tried in every order, if it is one: the order is in the context.
    pub(super) fn begin_tried(&mut self, binder: &'m Binder) -> Option<Loop> {
        let at = self.unit.orders?.table_of(binder.span, &binder.domain)?;
        let Domain::Type(ty) = binder.domain else { return None };
        let looped = self.constant(1);
        self.store_context(offset_of!(Context, looped), looped);
        let each = self.begin_loop(Rounds::Fixed(self.model().count(ty)));
        let order = self.load_context(offset_of!(Context, order));
        let round = self.number(each.round);
        let distance = self.builder.ins().imul_imm_s(round, size_of::<u16>() as i64);
        let value = self.builder.ins().iadd(order, distance);
        let value = self.builder.ins().uload16(types::I64, plain(), value, 2 * at as i32);
        // Only scalarsets and unions have orders, whose values are counted from 0.
        let value = Operand::register(value, Bounds::of(self.model(), ty));
        self.scope.bind(binder.local, Binding::Value(value));
        Some(each)
    }

    /// How many elements a multiset has.
    pub(super) fn occupied_positions(&mut self, place: &'m Place) -> Rounds {
        let address = self.locate_memory(place);
        self.rooms(&address, place.ty)
    }

    /// How many rooms of a multiset have, or had, an element.
    fn rooms(&mut self, multiset: &Address, ty: TypeId) -> Rounds {
        let layout = self.layout().of_type(ty);
        let rounds = self.load_slot(multiset, layout.count_width);
        Rounds::Counted { rounds, most: u64::from(layout.length) }
    }

    /// The position of the element in the room of this round; rooms without one are passed over.
    pub(super) fn position_in_round(
        &mut self,
        each: &Loop,
        multiset: &Address,
        ty: TypeId,
    ) -> Operand {
        if !self.shrunk {
            return each.round;
        }
        self.check_elements(multiset);
        let layout = self.layout().of_type(ty);
        let room = self.number(each.round);
        let [there, occupied] = [(); 2].map(|()| self.block());
        let count = self.load_slot(multiset, layout.count_width);
        let within = self.builder.ins().icmp(IntCC::UnsignedLessThan, room, count);
        self.choose(within, there, each.latch);
        self.enter(there);
        let mark = self.load_mark(multiset, ty, room);
        let vacant = self.builder.ins().icmp_imm_s(IntCC::Equal, mark, i64::from(VACANT));
        self.choose(vacant, each.latch, occupied);
        self.enter(occupied);
        let capacity = i64::from(layout.length);
        let refilled = self.builder.ins().icmp_imm_s(IntCC::Equal, mark, i64::from(REFILLED));
        let beyond = self.builder.ins().iadd_imm_s(room, capacity);
        let position = self.builder.ins().select(refilled, beyond, room);
        Operand::register(position, Bounds::new(0, 2 * capacity - 1))
    }

    fn begin_range(
        &mut self,
        from: &'m Expression,
        to: &'m Expression,
        by: &'m Expression,
    ) -> (Loop, Operand) {
        let (from, to, by) = (self.operand(from), self.operand(to), self.operand(by));
        let hull = from.bounds.hull(to.bounds);
        if let Some(1) = by.known() {
            let rounds = self.ascending_rounds(from, to);
            let each = self.begin_loop(rounds);
            let value = match from.known() {
                Some(first) => each.round.plus(first, hull),
                None => {
                    let (first, round) = (self.number(from), self.number(each.round));
                    Operand::register(self.builder.ins().iadd(first, round), hull)
                }
            };
            return (each, value);
        }
        let rounds = self.stepping_rounds(from, to, by);
        let (first, step) = (self.number(from), self.number(by));
        let each = self.begin_loop(rounds);
        let round = self.number(each.round);
        let distance = self.builder.ins().imul(round, step);
        let value = self.builder.ins().iadd(first, distance);
        (each, Operand::register(value, hull))
    }

    /// How many values there are from `from` to `to`.
    fn ascending_rounds(&mut self, from: Operand, to: Operand) -> Rounds {
        if let (Some(from), Some(to)) = (from.known(), to.known()) {
            let count = i128::from(to) - i128::from(from) + 1;
            return Rounds::Fixed(count.max(0) as u64);
        }
        let (first, last) = (self.number(from), self.number(to));
        let empty = self.builder.ins().icmp(IntCC::SignedGreaterThan, first, last);
        let distance = self.builder.ins().isub(last, first);
        let count = self.builder.ins().iadd_imm_s(distance, 1);
        let zero = self.constant(0);
        let rounds = self.builder.ins().select(empty, zero, count);
        let most = i128::from(to.bounds.high) - i128::from(from.bounds.low) + 1;
        Rounds::Counted { rounds, most: most.clamp(0, i64::MAX.into()) as u64 }
    }

    /// How many values there are with a step that is any number; a step that is 0 or leads away
    /// is a run-time error.
    fn stepping_rounds(&mut self, from: Operand, to: Operand, by: Operand) -> Rounds {
        let (first, last, step) = (self.number(from), self.number(to), self.number(by));
        let zero = self.constant(0);
        if by.bounds.contains(0) {
            let none = self.is_zero(step);
            self.fail_if(none);
        }
        let down = self.builder.ins().icmp(IntCC::SignedLessThan, step, zero);
        let below = self.builder.ins().icmp(IntCC::SignedLessThan, first, last);
        let away = self.builder.ins().band(down, below);
        self.fail_if(away);
        let above = self.builder.ins().icmp(IntCC::SignedGreaterThan, first, last);
        let up = self.builder.ins().icmp(IntCC::SignedGreaterThan, step, zero);
        let empty = self.builder.ins().band(above, up);
        let climb = self.builder.ins().isub(last, first);
        let descent = self.builder.ins().isub(first, last);
        let distance = self.builder.ins().select(down, descent, climb);
        let downward = self.builder.ins().ineg(step);
        let length = self.builder.ins().select(down, downward, step);
        // A path on which the step is 0 has been left, but division must not trap on any.
        let steps = self.builder.ins().udiv(distance, length);
        let count = self.builder.ins().iadd_imm_s(steps, 1);
        let rounds = self.builder.ins().select(empty, zero, count);
        Rounds::Counted { rounds, most: i64::MAX as u64 }
    }
}
