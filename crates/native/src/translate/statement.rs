//! Statements.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use murphi::ir::{
    Assign, Binder, Domain, Expression, Operator, Place, Put, Statement, StatementKind, TypeId,
    TypeKind,
};

use super::Translator;
use super::domain::Rounds;
use super::operand::{Bounds, Operand};
use super::place::{Address, Binding, Location};
use crate::host;

/// A chain of more arms than this, of an `if` or a `switch`, is cut into pieces. Each arm is dominated
/// by the conditions of all before it, and the code generator takes time in the depth of what
/// dominates a block, for every block. Behind a piece, the depth is the number of pieces.
const LONG_CHAIN: usize = 256;

/// How many arms are in a piece of a long chain.
const PIECE: usize = 48;

/// The pieces that a chain is cut into.
fn pieces<T>(chain: &[T]) -> std::slice::Chunks<'_, T> {
    chain.chunks(if chain.len() > LONG_CHAIN { PIECE } else { LONG_CHAIN })
}

impl<'m> Translator<'_, 'm> {
    pub(super) fn statements(&mut self, statements: &'m [Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'m Statement) {
        match &statement.kind {
            StatementKind::Assign(assign) => self.assign(assign),
            StatementKind::If { branches, otherwise } => {
                self.conditional_statement(branches, otherwise)
            }
            StatementKind::Switch { value, cases, otherwise } => {
                self.switch(value, cases, otherwise);
            }
            StatementKind::For { binder, body, runs_all: false } => {
                let each = self.begin_tried(binder);
                let each = each.unwrap_or_else(|| self.begin_domain(binder));
                self.shrunk |= self.may_shrink(body);
                self.statements(body);
                self.jump(each.latch);
                self.end_loop(each);
            }
            StatementKind::For { binder, body, runs_all: true } => self.run_all(binder, body),
            StatementKind::While { condition, body } => self.repeat(condition, body),
            StatementKind::Alias { local, target, body } => {
                self.bind_alias(*local, target);
                self.statements(body);
            }
            StatementKind::Call(call) => {
                self.call(call);
            }
            StatementKind::Return(value) => self.return_statement(value.as_ref()),
            StatementKind::Clear(place) => self.clear(place),
            StatementKind::Undefine(place) => self.undefine(place),
            StatementKind::Error(_) => self.fail(),
            StatementKind::Assert { condition, .. } => self.require(condition, self.exits.error),
            StatementKind::Assume(condition) => self.require(condition, self.exits.exclude),
            StatementKind::Cover { condition, number } => self.cover(condition, *number),
            StatementKind::Put(Put::Text(_)) => {}
            StatementKind::Put(Put::Value(value)) => self.evaluate(value, false),
            StatementKind::MultisetAdd { value, multiset } => self.add_element(value, multiset),
            StatementKind::MultisetRemove { position, multiset } => {
                self.remove_element(position, multiset);
            }
            StatementKind::MultisetRemoveWhere { binder, condition } => {
                self.remove_where(binder, condition);
            }
        }
    }

    /// Runs all rounds of a loop; a `return` or an `assume` in one takes effect after the last.
    fn run_all(&mut self, binder: &'m Binder, body: &'m [Statement]) {
        let (returned, result) = (self.flag(), self.flag());
        let excludes = self.unit.knowledge.statements(self.scope.frame, body).excludes;
        let excluded = excludes.then(|| self.flag());
        let in_slot = self.exits.result.is_some() && self.exits.room.is_none();
        let leave = self.block();
        let slot = in_slot.then(|| self.builder.append_block_param(leave, types::I64));
        let outer = std::mem::replace(&mut self.exits.leave, leave);
        let each = self.begin_domain(binder);
        let excluded = self.begin_exclusion(excluded);
        self.shrunk |= self.may_shrink(body);
        self.statements(body);
        self.jump(each.latch);
        let excluded = self.end_exclusion(excluded, each.latch);
        self.enter(leave);
        if let Some(slot) = slot {
            self.builder.def_var(result, slot);
        }
        self.raise(returned);
        self.jump(each.latch);
        self.end_loop(each);
        self.exits.leave = outer;
        self.leave_if_excluded(excluded);
        let [leaving, next] = [(); 2].map(|()| self.block());
        let returned = self.builder.use_var(returned);
        self.choose(returned, leaving, next);
        self.enter(leaving);
        match in_slot {
            true => {
                let slot = self.builder.use_var(result);
                self.jump_with(outer, slot);
            }
            false => self.jump(outer),
        }
        self.enter(next);
    }

    /// Notes whether a `cover` statement is reached with its condition true.
    fn cover(&mut self, condition: &'m Expression, number: usize) {
        let [holds, next] = [(); 2].map(|()| self.block());
        self.branch(condition, holds, next);
        self.enter(holds);
        self.note_cover(self.model().properties.len() + number);
        self.jump(next);
        self.enter(next);
    }

    fn may_shrink(&self, body: &[Statement]) -> bool {
        self.unit.knowledge.statements(self.scope.frame, body).shrinks
    }

    /// Goes on only if the condition holds.
    fn require(&mut self, condition: &'m Expression, otherwise: Block) {
        let next = self.block();
        self.branch(condition, next, otherwise);
        self.enter(next);
    }

    fn assign(&mut self, assign: &'m Assign) {
        let ty = assign.target.ty;
        let target = self.locate(&assign.target);
        if self.model().simple(ty).is_none() {
            let Location::Memory(to) = target else {
                unreachable!("a value with components is in memory");
            };
            let from = self.aggregate(&assign.value);
            self.check_after(&to, &assign.value);
            self.copy(&to, &from, self.layout().of_type(ty).size);
            self.shrunk |= self.unit.knowledge.has_multiset(ty);
            return;
        }
        let slot = self.slot_value(&assign.value, ty, assign.copies_undefined);
        match target {
            Location::Variable(variable) => self.builder.def_var(variable, slot),
            Location::Memory(to) => {
                self.check_after(&to, &assign.value);
                self.store_slot(&to, self.layout().of_type(ty).size, slot);
            }
            Location::Value(_) => unreachable!("a bound value is not assigned to"),
        }
    }

    fn conditional_statement(
        &mut self,
        branches: &'m [(Expression, Vec<Statement>)],
        otherwise: &'m [Statement],
    ) {
        let end = self.block();
        for piece in pieces(branches) {
            let taken = self.begin_piece(branches);
            for (condition, body) in piece {
                let [yes, no] = [(); 2].map(|()| self.block());
                self.branch(condition, yes, no);
                self.enter(yes);
                self.statements(body);
                self.leave_chain(taken, end);
                self.enter(no);
            }
            self.end_piece(taken, end);
        }
        self.statements(otherwise);
        self.jump(end);
        self.enter(end);
    }

    fn switch(
        &mut self,
        value: &'m Expression,
        cases: &'m [(Vec<Expression>, Vec<Statement>)],
        otherwise: &'m [Statement],
    ) {
        let by_slot = self.unit.knowledge.has_undefined_value(value.ty);
        let ty = value.ty;
        let value = match by_slot {
            true => Operand::register(self.slot_value(value, ty, false), Bounds::ALL),
            false => self.operand(value),
        };
        let end = self.block();
        for piece in pieces(cases) {
            let taken = self.begin_piece(cases);
            for (candidates, body) in piece {
                let found = self.block();
                for candidate in candidates {
                    let other = self.block();
                    let candidate = match by_slot {
                        true => {
                            let slot = self.slot_value(candidate, ty, false);
                            Operand::register(slot, Bounds::ALL)
                        }
                        false => self.operand(candidate),
                    };
                    let truth = self.compare(Operator::Equal, value, candidate);
                    self.branch_truth(truth, found, other);
                    self.enter(other);
                }
                let next = self.block();
                self.jump(next);
                self.enter(found);
                self.statements(body);
                self.leave_chain(taken, end);
                self.enter(next);
            }
            self.end_piece(taken, end);
        }
        self.statements(otherwise);
        self.jump(end);
        self.enter(end);
    }

    /// Begins a piece of a chain of arms. If the chain is long, the arms of the piece come together
    /// in the block returned, whose parameter says whether one of them was taken.
    fn begin_piece<T>(&mut self, chain: &[T]) -> Option<Block> {
        (chain.len() > LONG_CHAIN).then(|| {
            let taken = self.block();
            self.builder.append_block_param(taken, types::I64);
            taken
        })
    }

    /// Leaves the chain after one of its arms.
    fn leave_chain(&mut self, taken: Option<Block>, end: Block) {
        match taken {
            Some(taken) => {
                let yes = self.constant(1);
                self.jump_with(taken, yes);
            }
            None => self.jump(end),
        }
    }

    /// Goes on behind a piece none of whose arms was taken.
    fn end_piece(&mut self, taken: Option<Block>, end: Block) {
        let Some(taken) = taken else {
            return;
        };
        let no = self.constant(0);
        self.jump_with(taken, no);
        self.enter(taken);
        let next = self.block();
        self.choose(self.builder.block_params(taken)[0], end, next);
        self.enter(next);
    }

    fn repeat(&mut self, condition: &'m Expression, body: &'m [Statement]) {
        self.shrunk |= self.may_shrink(body) || self.may_shrink_in(condition);
        let [header, round, end] = [(); 3].map(|()| self.block());
        let first = self.constant(0);
        let rounds = self.builder.append_block_param(header, types::I64);
        self.jump_with(header, first);
        self.builder.switch_to_block(header);
        self.branch(condition, round, end);
        self.enter(round);
        let limit = self.constant(self.model().loop_limit as i64);
        let reached = self.builder.ins().icmp(IntCC::Equal, rounds, limit);
        self.fail_if(reached);
        self.leave_if_stopped();
        self.statements(body);
        let next = self.builder.ins().iadd_imm_s(rounds, 1);
        self.jump_with(header, next);
        self.builder.seal_block(header);
        self.enter(end);
    }

    fn return_statement(&mut self, value: Option<&'m Expression>) {
        match (value, self.exits.result) {
            (None, Some(_)) => self.jump(self.exits.error),
            (None, None) => self.jump(self.exits.leave),
            (Some(value), None) => {
                self.evaluate(value, true);
                self.jump(self.exits.leave);
            }
            (Some(value), Some(ty)) => match self.exits.room {
                Some(room) => {
                    self.store_aggregate(&Address::at(room), value);
                    self.jump(self.exits.leave);
                }
                None => {
                    let copies_undefined = self.unit.knowledge.hands_on_undefined(value.ty);
                    let slot = self.slot_value(value, ty, copies_undefined);
                    self.jump_with(self.exits.leave, slot);
                }
            },
        }
        let next = self.block();
        self.enter(next);
    }

    fn clear(&mut self, place: &'m Place) {
        if self.model().simple(place.ty).is_some() {
            return self.set_slot(place, 1);
        }
        let to = self.locate_memory(place);
        let image = self.cleared(place.ty);
        self.copy(&to, &Address::at(image), self.layout().of_type(place.ty).size);
        self.shrunk |= self.unit.knowledge.has_multiset(place.ty);
    }

    fn undefine(&mut self, place: &'m Place) {
        if self.model().simple(place.ty).is_some() {
            return self.set_slot(place, 0);
        }
        let at = self.locate_memory(place);
        self.zero(&at, self.layout().of_type(place.ty).size);
        self.shrunk |= self.unit.knowledge.has_multiset(place.ty);
    }

    fn set_slot(&mut self, place: &'m Place, slot: i64) {
        let target = self.locate(place);
        let slot = self.constant(slot);
        match target {
            Location::Variable(variable) => self.builder.def_var(variable, slot),
            Location::Memory(at) => {
                self.store_slot(&at, self.layout().of_type(place.ty).size, slot);
            }
            Location::Value(_) => unreachable!("a bound value is not assigned to"),
        }
    }

    /// The type of the elements of a multiset.
    fn element_type(&self, ty: TypeId) -> TypeId {
        match self.model().kind(ty) {
            TypeKind::Multiset { element, .. } => *element,
            kind => unreachable!("{kind:?} is not a multiset"),
        }
    }

    fn add_element(&mut self, value: &'m Expression, multiset: &'m Place) {
        let element = self.element_type(multiset.ty);
        let size = self.layout().of_type(element).size;
        let simple = self.model().simple(element).is_some();
        let copies_undefined = self.unit.knowledge.hands_on_undefined(value.ty);
        let slot = simple.then(|| self.slot_value(value, element, copies_undefined));
        let from = (!simple).then(|| {
            let from = self.aggregate(value);
            match self.unit.knowledge.place(self.scope.frame, multiset).changes {
                true => self.duplicate(&from, element),
                false => from,
            }
        });
        let at = self.locate_memory(multiset);
        let room = self.room_for_element(&at, multiset.ty);
        let to = self.element_address(&at, room, multiset.ty);
        match (slot, from) {
            (Some(slot), _) => self.store_slot(&to, size, slot),
            (None, Some(from)) => self.copy(&to, &from, size),
            (None, None) => unreachable!("the new element was evaluated"),
        }
    }

    /// Takes a room for a new element: the first that had none, or else the first vacant one.
    fn room_for_element(&mut self, multiset: &Address, ty: TypeId) -> Value {
        let layout = self.layout().of_type(ty);
        let count = self.load_slot(multiset, layout.count_width);
        let capacity = i64::from(layout.length);
        let within = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, count, capacity);
        let new = self.block();
        if !self.shrunk {
            self.choose(within, new, self.exits.error);
            self.enter(new);
            let more = self.builder.ins().iadd_imm_s(count, 1);
            self.store_slot(multiset, layout.count_width, more);
            return count;
        }
        let (full, join) = (self.cold_block(), self.block());
        let room = self.builder.append_block_param(join, types::I64);
        self.choose(within, new, full);
        self.enter(new);
        let more = self.builder.ins().iadd_imm_s(count, 1);
        self.store_slot(multiset, layout.count_width, more);
        self.jump_with(join, count);
        self.enter(full);
        self.note_write(multiset, layout.size);
        let arguments = self.multiset_arguments(multiset, ty);
        let refilled = self.call_host(host::refill as *const () as usize, &arguments, 1);
        let refilled = refilled.expect("a room is the result");
        let there = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, refilled, capacity);
        self.fail_unless(there);
        self.jump_with(join, refilled);
        self.enter(join);
        room
    }

    /// What the functions of the host for multisets take first.
    fn multiset_arguments(&mut self, multiset: &Address, ty: TypeId) -> [Value; 3] {
        let shapes = self.shapes();
        let ty = self.constant(i64::from(ty.0));
        [shapes, ty, self.full_pointer(multiset)]
    }

    fn remove_element(&mut self, position: &'m Expression, multiset: &'m Place) {
        let position = self.operand(position);
        let room = self.room(position, multiset.ty);
        let at = self.locate_memory(multiset);
        self.check_room(&at, multiset.ty, room);
        self.note_write(&at, self.layout().of_type(multiset.ty).size);
        let [shapes, ty, pointer] = self.multiset_arguments(&at, multiset.ty);
        let arguments = [shapes, ty, pointer, room.number];
        self.call_host(host::remove_at as *const () as usize, &arguments, 0);
        self.shrunk = true;
    }

    fn remove_where(&mut self, binder: &'m Binder, condition: &'m Expression) {
        let Domain::Multiset(multiset) = &binder.domain else {
            unreachable!("elements are removed from a multiset");
        };
        self.shrunk |= self.may_shrink_in(condition);
        let excluded = self.exclusion_flag(condition);
        let layout = self.layout().of_type(multiset.ty);
        let at = self.locate_memory(multiset);
        let judged = self.load_slot(&at, layout.count_width);
        let removed = self.allocate(layout.length);
        self.zero(&removed, layout.length);
        let removed = self.full_pointer(&removed);
        let most = u64::from(layout.length);
        let each = self.begin_loop(Rounds::Counted { rounds: judged, most });
        let position = self.position_in_round(&each, &at, multiset.ty);
        self.scope.bind(binder.local, Binding::Value(position));
        let excluded = self.begin_exclusion(excluded);
        let truth = self.operand(condition);
        let truth = self.number(truth);
        let round = self.number(each.round);
        let flag = self.builder.ins().iadd(removed, round);
        self.store_slot(&Address::at(flag), 1, truth);
        self.jump(each.latch);
        let excluded = self.end_exclusion(excluded, each.latch);
        self.end_loop(each);
        self.leave_if_excluded(excluded);
        self.check_after(&at, condition);
        self.note_write(&at, layout.size);
        let [shapes, ty, pointer] = self.multiset_arguments(&at, multiset.ty);
        let arguments = [shapes, ty, pointer, removed, judged];
        self.call_host(host::remove_where as *const () as usize, &arguments, 0);
        self.shrunk = true;
    }
}
