//! Expressions: simple ones to registers, those with components to where their bytes are.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use murphi::ir::{Binder, Expression, ExpressionKind, Operator, Place, Simple, TypeId};

use super::Translator;
use super::arithmetic::TruthValue;
use super::condition::is_comparison;
use super::operand::{Bounds, Operand};
use super::place::{Address, Location};

impl<'m> Translator<'_, 'm> {
    /// The value of a simple expression; undefined is a run-time error.
    pub(super) fn operand(&mut self, expression: &'m Expression) -> Operand {
        match &expression.kind {
            ExpressionKind::Constant(value) => Operand::constant(*value),
            ExpressionKind::Read(place) => self.read(place),
            ExpressionKind::Undefined => {
                self.fail();
                Operand::constant(self.model().lowest(expression.ty))
            }
            ExpressionKind::Negate(operand) => {
                let operand = self.operand(operand);
                self.negate(operand)
            }
            ExpressionKind::Complement(operand) => {
                let operand = self.operand(operand);
                self.complement(operand)
            }
            ExpressionKind::Binary(Operator::And | Operator::Or | Operator::Implies, _, _)
            | ExpressionKind::Not(_)
            | ExpressionKind::Quantified { .. } => self.condition_operand(expression),
            ExpressionKind::Binary(operator, _, _) if is_comparison(*operator) => {
                let truth = self.truth(expression);
                self.truth_operand(truth)
            }
            ExpressionKind::Binary(operator, left, right) => {
                let (left, right) = (self.operand(left), self.operand(right));
                self.arithmetic(*operator, left, right)
            }
            ExpressionKind::Same { equal, left, right } => self.same(*equal, left, right),
            ExpressionKind::Conditional(condition, yes, no) => {
                self.conditional(expression, condition, yes, no)
            }
            ExpressionKind::Call(call) => {
                let slot = self.call(call).expect("a function in an expression has a result");
                if self.unit.knowledge.function(call.function).undefined {
                    self.defined(slot);
                }
                Operand::slot(self.model(), self.result_type(call.function), slot)
            }
            ExpressionKind::IsUndefined(place) => self.is_undefined(place),
            ExpressionKind::IsMember { value, member } => {
                let truth = self.is_member(value, *member);
                self.truth_operand(truth)
            }
            ExpressionKind::Convert(value) => {
                let operand = self.operand(value);
                self.convert(operand, value.ty, expression.ty)
            }
            ExpressionKind::MultisetCount { binder, condition } => {
                self.multiset_count(binder, condition)
            }
        }
    }

    /// What a simple place holds.
    fn read(&mut self, place: &'m Place) -> Operand {
        let slot = match self.locate(place) {
            Location::Value(operand) => return operand,
            Location::Variable(variable) => self.builder.use_var(variable),
            Location::Memory(address) => {
                self.load_slot(&address, self.layout().of_type(place.ty).size)
            }
        };
        self.defined(slot);
        Operand::slot(self.model(), place.ty, slot)
    }

    /// What a slot of type `ty` holds once the value is assigned to it; a value outside the type
    /// is a run-time error. Undefined is passed on where it is a value; of other places only if
    /// `copies_undefined`.
    pub(super) fn slot_value(
        &mut self,
        value: &'m Expression,
        ty: TypeId,
        copies_undefined: bool,
    ) -> Value {
        match &value.kind {
            ExpressionKind::Undefined => self.constant(0),
            ExpressionKind::Read(place)
                if copies_undefined || self.unit.knowledge.has_undefined_value(place.ty) =>
            {
                self.copied_slot(place, ty)
            }
            ExpressionKind::Convert(inner) if self.unit.knowledge.may_be_undefined(value) => {
                self.converted_slot(inner, ty)
            }
            ExpressionKind::Conditional(condition, yes, no)
                if self.unit.knowledge.may_be_undefined(value) =>
            {
                let [one, other, join] = [(); 3].map(|()| self.block());
                let slot = self.builder.append_block_param(join, types::I64);
                self.branch(condition, one, other);
                for (block, part) in [(one, yes), (other, no)] {
                    self.enter(block);
                    let slot = self.slot_value(part, ty, false);
                    self.jump_with(join, slot);
                }
                self.enter(join);
                slot
            }
            ExpressionKind::Call(call) if self.unit.knowledge.may_be_undefined(value) => {
                let slot = self.call(call).expect("a function in an expression has a result");
                self.moved_slot(slot, self.result_type(call.function), ty)
            }
            _ => {
                let operand = self.operand(value);
                self.admit(operand, ty);
                self.slot_of(operand, ty)
            }
        }
    }

    /// The slot of a place as one of type `ty`, undefined or not.
    fn copied_slot(&mut self, place: &'m Place, ty: TypeId) -> Value {
        let slot = match self.locate(place) {
            Location::Value(operand) => {
                self.admit(operand, ty);
                return self.slot_of(operand, ty);
            }
            Location::Variable(variable) => self.builder.use_var(variable),
            Location::Memory(address) => {
                self.load_slot(&address, self.layout().of_type(place.ty).size)
            }
        };
        self.moved_slot(slot, place.ty, ty)
    }

    /// The slot of a value of a union or of a member of one as one of type `ty`.
    fn converted_slot(&mut self, value: &'m Expression, ty: TypeId) -> Value {
        let slot = self.slot_value(value, value.ty, false);
        let [defined, join] = [(); 2].map(|()| self.block());
        let converted = self.builder.append_block_param(join, types::I64);
        self.builder.ins().brif(slot, defined, &[], join, &[slot.into()]);
        self.enter(defined);
        let operand = Operand::slot(self.model(), value.ty, slot);
        let operand = self.convert(operand, value.ty, ty);
        let slot = self.slot_of(operand, ty);
        self.jump_with(join, slot);
        self.enter(join);
        converted
    }

    /// What was in a slot of one type, undefined or not, for a slot of another.
    fn moved_slot(&mut self, slot: Value, from: TypeId, to: TypeId) -> Value {
        let operand = Operand::slot(self.model(), from, slot);
        let fits = operand.bounds.within(Bounds::of(self.model(), to));
        if fits && self.model().lowest(from) == self.model().lowest(to) {
            return slot;
        }
        let [defined, join] = [(); 2].map(|()| self.block());
        let moved = self.builder.append_block_param(join, types::I64);
        self.builder.ins().brif(slot, defined, &[], join, &[slot.into()]);
        self.enter(defined);
        self.admit(operand, to);
        let value = self.slot_of(operand, to);
        self.jump_with(join, value);
        self.enter(join);
        moved
    }

    /// A condition with control flow of its own, as a value.
    fn condition_operand(&mut self, condition: &'m Expression) -> Operand {
        let [yes, no, join] = [(); 3].map(|()| self.block());
        let value = self.builder.append_block_param(join, types::I64);
        self.branch(condition, yes, no);
        for (block, truth) in [(yes, 1), (no, 0)] {
            self.enter(block);
            let truth = self.constant(truth);
            self.jump_with(join, truth);
        }
        self.enter(join);
        Operand::register(value, Bounds::TRUTH)
    }

    fn conditional(
        &mut self,
        expression: &'m Expression,
        condition: &'m Expression,
        yes: &'m Expression,
        no: &'m Expression,
    ) -> Operand {
        if expression.ty == murphi::ir::Model::BOOLEAN {
            return self.condition_operand(expression);
        }
        let [one, other, join] = [(); 3].map(|()| self.block());
        let value = self.builder.append_block_param(join, types::I64);
        let mut bounds: Option<Bounds> = None;
        self.branch(condition, one, other);
        for (block, part) in [(one, yes), (other, no)] {
            self.enter(block);
            let operand = self.operand(part);
            bounds = Some(bounds.map_or(operand.bounds, |bounds| bounds.hull(operand.bounds)));
            let number = self.number(operand);
            self.jump_with(join, number);
        }
        self.enter(join);
        Operand::register(value, bounds.unwrap_or(Bounds::ALL))
    }

    fn same(&mut self, equal: bool, left: &'m Expression, right: &'m Expression) -> Operand {
        let ty = left.ty;
        let mut left = self.aggregate(left);
        if self.unit.knowledge.expression(self.scope.frame, right).changes {
            left = self.duplicate(&left, ty);
        }
        let right = self.aggregate(right);
        let same = self.same_values(ty, &left, &right);
        let value = match equal {
            true => same,
            false => self.builder.ins().bxor_imm_s(same, 1),
        };
        Operand::register(value, Bounds::TRUTH)
    }

    fn is_undefined(&mut self, place: &'m Place) -> Operand {
        let slot = match self.locate(place) {
            Location::Value(_) => return Operand::constant(0),
            Location::Variable(variable) => self.builder.use_var(variable),
            Location::Memory(address) => {
                self.load_slot(&address, self.layout().of_type(place.ty).size)
            }
        };
        let undefined = self.is_zero(slot);
        self.truth_operand(TruthValue::Computed(undefined))
    }

    /// Undefined belongs to no member: its slot, 0, is below those of all values.
    fn is_member(&mut self, value: &'m Expression, member: TypeId) -> TruthValue {
        let ty = value.ty;
        let slot = self.slot_value(value, ty, false);
        match self.model().union_offset(ty, member) {
            Some(offset) => {
                let within = self.builder.ins().iadd_imm_s(slot, -1 - offset);
                let count = self.model().count(member) as i64;
                TruthValue::Computed(self.builder.ins().icmp_imm_s(
                    IntCC::UnsignedLessThan,
                    within,
                    count,
                ))
            }
            None if ty == member => {
                let defined = self.builder.ins().icmp_imm_s(IntCC::NotEqual, slot, 0);
                TruthValue::Computed(defined)
            }
            None => TruthValue::Known(false),
        }
    }

    /// Whether two simple values are the same, if undefined may be one of them.
    pub(super) fn same_slots(&mut self, left: &'m Expression, right: &'m Expression) -> TruthValue {
        let left = self.slot_value(left, left.ty, false);
        let right = self.slot_value(right, right.ty, false);
        TruthValue::Computed(self.builder.ins().icmp(IntCC::Equal, left, right))
    }

    /// A value of one simple type as one of another.
    fn convert(&mut self, operand: Operand, from: TypeId, to: TypeId) -> Operand {
        let model = self.model();
        let members = |ty: TypeId| match model.simple(ty) {
            Some(Simple::Union(members)) => Some(members.as_slice()),
            _ => None,
        };
        match (members(from), members(to)) {
            (None, None) => operand,
            (None, Some(_)) => match model.union_offset(to, from) {
                Some(offset) => operand.plus(offset, shift(operand.bounds, offset)),
                None => {
                    self.fail();
                    Operand::constant(0)
                }
            },
            (Some(_), None) => {
                let Some(offset) = model.union_offset(from, to) else {
                    self.fail();
                    return Operand::constant(0);
                };
                let bounds = Bounds::of(model, to);
                let domain = shift(bounds, offset);
                self.check_within(operand, domain, model.count(to));
                operand.plus(-offset, bounds)
            }
            (Some(members), Some(_)) => self.convert_union(operand, members, to),
        }
    }

    /// Between unions, each member moves on its own.
    fn convert_union(&mut self, operand: Operand, members: &[TypeId], to: TypeId) -> Operand {
        let join = self.block();
        let value = self.builder.append_block_param(join, types::I64);
        let mut offset = 0;
        for &member in members {
            let count = self.model().count(member) as i64;
            let within = self.shifted(operand, -offset);
            let is_member = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, within, count);
            let [found, other] = [(); 2].map(|()| self.block());
            self.choose(is_member, found, other);
            self.enter(found);
            match self.model().union_offset(to, member) {
                Some(target) => {
                    let moved = self.builder.ins().iadd_imm_s(within, target);
                    self.jump_with(join, moved);
                }
                None => self.jump(self.exits.error),
            }
            self.enter(other);
            offset += count;
        }
        self.jump(self.exits.error);
        self.enter(join);
        Operand::register(value, Bounds::of(self.model(), to))
    }

    fn multiset_count(&mut self, binder: &'m Binder, condition: &'m Expression) -> Operand {
        let counter = self.builder.declare_var(types::I64);
        let none = self.constant(0);
        self.builder.def_var(counter, none);
        self.shrunk |= self.may_shrink_in(condition);
        let excluded = self.exclusion_flag(condition);
        let each = self.begin_domain(binder);
        let excluded = self.begin_exclusion(excluded);
        let most = each.round.bounds.high.saturating_add(1);
        let counted = self.block();
        self.branch(condition, counted, each.latch);
        self.enter(counted);
        let count = self.builder.use_var(counter);
        let more = self.builder.ins().iadd_imm_s(count, 1);
        self.builder.def_var(counter, more);
        self.jump(each.latch);
        let excluded = self.end_exclusion(excluded, each.latch);
        self.end_loop(each);
        self.leave_if_excluded(excluded);
        Operand::register(self.builder.use_var(counter), Bounds::new(0, most))
    }

    /// Where the bytes of an expression with components are, until something is written.
    pub(super) fn aggregate(&mut self, expression: &'m Expression) -> Address {
        match &expression.kind {
            ExpressionKind::Read(place) => self.locate_memory(place),
            ExpressionKind::Call(call) => {
                let pointer = self.call(call).expect("a function in an expression has a result");
                Address::at(pointer)
            }
            ExpressionKind::Conditional(condition, yes, no) => {
                let [one, other, join] = [(); 3].map(|()| self.block());
                let pointer = self.builder.append_block_param(join, types::I64);
                self.branch(condition, one, other);
                for (block, part) in [(one, yes), (other, no)] {
                    self.enter(block);
                    let address = self.aggregate(part);
                    let pointer = self.full_pointer(&address);
                    self.jump_with(join, pointer);
                }
                self.enter(join);
                Address::at(pointer)
            }
            _ => {
                let size = self.layout().of_type(expression.ty).size;
                let room = self.allocate(size);
                self.zero(&room, size);
                room
            }
        }
    }

    /// Writes the value of an expression with components.
    pub(super) fn store_aggregate(&mut self, to: &Address, value: &'m Expression) {
        let size = self.layout().of_type(value.ty).size;
        match &value.kind {
            ExpressionKind::Undefined => self.zero(to, size),
            _ => {
                let from = self.aggregate(value);
                self.copy(to, &from, size);
            }
        }
    }

    /// A copy that later writes do not change.
    pub(super) fn duplicate(&mut self, address: &Address, ty: TypeId) -> Address {
        let size = self.layout().of_type(ty).size;
        let room = self.allocate(size);
        self.copy(&room, address, size);
        room
    }

    /// Whether evaluating an expression may remove an element of a multiset.
    pub(super) fn may_shrink_in(&self, expression: &Expression) -> bool {
        self.unit.knowledge.expression(self.scope.frame, expression).shrinks
    }

    /// Evaluates an expression only for its errors.
    pub(super) fn evaluate(&mut self, expression: &'m Expression, undefined_is_error: bool) {
        match &expression.kind {
            ExpressionKind::Read(place) if !undefined_is_error => {
                self.locate(place);
            }
            _ if self.model().simple(expression.ty).is_none() => {
                self.aggregate(expression);
            }
            _ if self.unit.knowledge.may_be_undefined(expression) => {
                self.slot_value(expression, expression.ty, false);
            }
            _ => {
                self.operand(expression);
            }
        }
    }
}

fn shift(bounds: Bounds, by: i64) -> Bounds {
    Bounds::new(bounds.low.saturating_add(by), bounds.high.saturating_add(by))
}
