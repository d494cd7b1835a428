//! Conditions as control flow: a branch to one block if it holds and to another if it does not.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use murphi::ir::{Binder, Domain, Expression, ExpressionKind, Operator, Place};

use super::Translator;
use super::arithmetic::TruthValue;
use super::operand::Operand;
use super::place::Location;
use super::unfailing::is_unfailing;

/// What becomes of an `assume` that does not hold in one round of a loop without an order.
pub(super) struct Exclusion {
    /// Raised by it.
    flag: Variable,
    /// Where it leads.
    here: Block,
    /// Where it would have led.
    outer: Block,
}

impl<'m> Translator<'_, 'm> {
    /// Ends the current block with a branch on a condition.
    pub(super) fn branch(&mut self, condition: &'m Expression, yes: Block, no: Block) {
        match &condition.kind {
            ExpressionKind::Not(operand) => self.branch(operand, no, yes),
            ExpressionKind::Binary(Operator::And, left, right) => {
                self.branch_twice(left, right, |right| (right, no), yes, no);
            }
            ExpressionKind::Binary(Operator::Or, left, right) => {
                self.branch_twice(left, right, |right| (yes, right), yes, no);
            }
            ExpressionKind::Binary(Operator::Implies, left, right) => {
                self.branch_twice(left, right, |right| (right, yes), yes, no);
            }
            ExpressionKind::Binary(Operator::Equal, left, right) => {
                self.branch_equal(left, right, yes, no);
            }
            ExpressionKind::Binary(Operator::NotEqual, left, right) => {
                self.branch_equal(left, right, no, yes);
            }
            ExpressionKind::Read(place) => self.branch_slot(place, 1, yes, no),
            ExpressionKind::Conditional(test, first, second) => {
                let [one, other] = [(); 2].map(|()| self.block());
                self.branch(test, one, other);
                self.enter(one);
                self.branch(first, yes, no);
                self.enter(other);
                self.branch(second, yes, no);
            }
            ExpressionKind::Quantified { all, binder, condition }
                if self.has_no_order(binder, condition) =>
            {
                self.branch_on_all(*all, binder, condition, [yes, no]);
            }
            ExpressionKind::Quantified { all, binder, condition } => {
                let each = self.begin_domain(binder);
                self.shrunk |= self.may_shrink_in(condition);
                let [yes_in_round, no_in_round] = match all {
                    true => [each.latch, no],
                    false => [yes, each.latch],
                };
                self.branch(condition, yes_in_round, no_in_round);
                self.end_loop(each);
                self.jump(if *all { yes } else { no });
            }
            _ => {
                let truth = self.truth(condition);
                self.branch_truth(truth, yes, no);
            }
        }
    }

    /// Whether a quantifier must look at every member, also after one that decides.
    fn has_no_order(&self, binder: &Binder, condition: &Expression) -> bool {
        let unordered = matches!(binder.domain, Domain::Type(ty) if self.model().is_unordered(ty));
        unordered && !is_unfailing(self.model(), self.scope.frame, condition)
    }

    /// A quantifier over something without an order: every member is looked at, and an error of any
    /// of them is an error.
    fn branch_on_all(
        &mut self,
        all: bool,
        binder: &'m Binder,
        condition: &'m Expression,
        [yes, no]: [Block; 2],
    ) {
        let decided = self.flag();
        let excluded = self.exclusion_flag(condition);
        let each = self.begin_domain(binder);
        let excluded = self.begin_exclusion(excluded);
        self.shrunk |= self.may_shrink_in(condition);
        let decides = self.block();
        match all {
            true => self.branch(condition, each.latch, decides),
            false => self.branch(condition, decides, each.latch),
        }
        self.enter(decides);
        self.raise(decided);
        self.jump(each.latch);
        let excluded = self.end_exclusion(excluded, each.latch);
        self.end_loop(each);
        let open = self.block();
        let decided = self.builder.use_var(decided);
        self.choose(decided, if all { no } else { yes }, open);
        self.enter(open);
        self.leave_if_excluded(excluded);
        self.jump(if all { yes } else { no });
    }

    /// A variable that is 0 until it is raised.
    pub(super) fn flag(&mut self) -> Variable {
        let flag = self.builder.declare_var(types::I64);
        let lowered = self.constant(0);
        self.builder.def_var(flag, lowered);
        flag
    }

    pub(super) fn raise(&mut self, flag: Variable) {
        let raised = self.constant(1);
        self.builder.def_var(flag, raised);
    }

    /// Before a loop whose rounds have no order: what the condition excludes in one round is kept
    /// for after the last, unless it excludes nothing.
    pub(super) fn exclusion_flag(&mut self, condition: &Expression) -> Option<Variable> {
        let excludes = self.unit.knowledge.expression(self.scope.frame, condition).excludes;
        excludes.then(|| self.flag())
    }

    /// At the beginning of a round.
    pub(super) fn begin_exclusion(&mut self, flag: Option<Variable>) -> Option<Exclusion> {
        let flag = flag?;
        let here = self.cold_block();
        let outer = std::mem::replace(&mut self.exits.exclude, here);
        Some(Exclusion { flag, here, outer })
    }

    /// At the end of a round, which goes on at `latch` whether it excludes something or not.
    pub(super) fn end_exclusion(
        &mut self,
        exclusion: Option<Exclusion>,
        latch: Block,
    ) -> Option<Variable> {
        let Exclusion { flag, here, outer } = exclusion?;
        self.exits.exclude = outer;
        self.enter(here);
        self.raise(flag);
        self.jump(latch);
        Some(flag)
    }

    /// After the loop.
    pub(super) fn leave_if_excluded(&mut self, excluded: Option<Variable>) {
        if let Some(excluded) = excluded {
            let next = self.block();
            let excluded = self.builder.use_var(excluded);
            self.choose(excluded, self.exits.exclude, next);
            self.enter(next);
        }
    }

    /// A condition that does not need control flow of its own.
    pub(super) fn truth(&mut self, condition: &'m Expression) -> TruthValue {
        if let ExpressionKind::Binary(operator, left, right) = &condition.kind
            && is_comparison(*operator)
        {
            if self.is_of_undefined(left, right) {
                let same = self.same_slots(left, right);
                return match operator {
                    Operator::NotEqual => self.negated(same),
                    _ => same,
                };
            }
            let left = self.operand(left);
            let right = self.operand(right);
            return self.compare(*operator, left, right);
        }
        let operand = self.operand(condition);
        match operand.known() {
            Some(value) => TruthValue::Known(value != 0),
            None => TruthValue::Computed(self.number(operand)),
        }
    }

    pub(super) fn branch_truth(&mut self, truth: TruthValue, yes: Block, no: Block) {
        match truth {
            TruthValue::Known(true) => self.jump(yes),
            TruthValue::Known(false) => self.jump(no),
            TruthValue::Computed(value) => self.choose(value, yes, no),
        }
    }

    /// A branch on `left`, and where it does not decide, on `right`: `targets` says where the
    /// left operand leads, given where the right one begins.
    fn branch_twice(
        &mut self,
        left: &'m Expression,
        right: &'m Expression,
        targets: impl FnOnce(Block) -> (Block, Block),
        yes: Block,
        no: Block,
    ) {
        let undecided = self.block();
        let (left_yes, left_no) = targets(undecided);
        self.branch(left, left_yes, left_no);
        self.enter(undecided);
        self.branch(right, yes, no);
    }

    fn branch_equal(&mut self, left: &'m Expression, right: &'m Expression, yes: Block, no: Block) {
        match (&left.kind, &right.kind) {
            (ExpressionKind::Read(place), ExpressionKind::Constant(value))
            | (ExpressionKind::Constant(value), ExpressionKind::Read(place)) => {
                self.branch_slot(place, *value, yes, no);
            }
            _ if self.is_of_undefined(left, right) => {
                let truth = self.same_slots(left, right);
                self.branch_truth(truth, yes, no);
            }
            _ => {
                let (left, right) = (self.operand(left), self.operand(right));
                let truth = self.compare(Operator::Equal, left, right);
                self.branch_truth(truth, yes, no);
            }
        }
    }

    /// Whether undefined may be one of two values that are compared for equality, and no error.
    pub(super) fn is_of_undefined(&self, left: &Expression, right: &Expression) -> bool {
        let may_be = |part: &Expression| match &part.kind {
            ExpressionKind::Read(place) => !self.is_bound_value(place),
            _ => self.unit.knowledge.may_be_undefined(part),
        };
        self.unit.knowledge.has_undefined_value(left.ty) && (may_be(left) || may_be(right))
    }

    fn negated(&mut self, truth: TruthValue) -> TruthValue {
        match truth {
            TruthValue::Known(known) => TruthValue::Known(!known),
            TruthValue::Computed(value) => TruthValue::Computed(self.is_zero(value)),
        }
    }

    /// A branch on whether a place holds this value. A slot with the value is not undefined, so
    /// only the others are looked at again, if undefined is not a value like others.
    fn branch_slot(&mut self, place: &'m Place, value: i64, yes: Block, no: Block) {
        let slot = match self.locate(place) {
            Location::Value(operand) => {
                let truth = self.compare(Operator::Equal, operand, Operand::constant(value));
                return self.branch_truth(truth, yes, no);
            }
            Location::Variable(variable) => self.builder.use_var(variable),
            Location::Memory(address) => {
                self.load_slot(&address, self.layout().of_type(place.ty).size)
            }
        };
        let lowest = self.model().lowest(place.ty);
        let wanted = i128::from(value) - i128::from(lowest) + 1;
        let differs = self.block();
        match wanted >= 1 && wanted <= i128::from(self.model().count(place.ty)) {
            true => {
                let equal = self.builder.ins().icmp_imm_s(IntCC::Equal, slot, wanted as i64);
                self.choose(equal, yes, differs);
            }
            false => self.jump(differs),
        }
        self.enter(differs);
        match self.unit.knowledge.has_undefined_value(place.ty) {
            true => self.jump(no),
            false => self.choose(slot, no, self.exits.error),
        }
    }

    /// What a slot holds, having left with a run-time error if that is undefined.
    pub(super) fn defined(&mut self, slot: Value) {
        let next = self.block();
        self.choose(slot, next, self.exits.error);
        self.enter(next);
    }
}

pub(super) fn is_comparison(operator: Operator) -> bool {
    use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    matches!(operator, Equal | NotEqual | Less | LessOrEqual | Greater | GreaterOrEqual)
}
