//! Counters of processors as sets of them.
//!
//! A number that counts processors cannot be kept when most of them are abstract; the set of those
//! it counts can, because a set has an element for each processor and the concrete ones stay. A
//! counter is anything of a range whose end depends on the number of processors. Counting one more
//! (or one less) puts a processor into the set (or takes it out), and an assertion says that it was
//! not in it (or was): as long as no assertion fails, the counter is the size of the set. Which
//! processor it is, is the one of the innermost loop, or else a parameter of the rule. A counter that
//! goes up to one less than the number of processors overflows if all are counted; there a further
//! assertion says that one parameter of the rule is not. Whatever else is done to a counter is
//! refused.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use murphi::ast::{
    BinaryOperator, Body, Declaration, DeclarationKind, Domain, Expression, ExpressionKind,
    Property, PropertyKind, Quantifier, Statement, StatementKind, TypeExpression, TypeKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::print::print_expression;
use murphi::source::Span;

use crate::processor::Processor;
use crate::rules::Flattened;
use crate::syntax::{
    and, assign, binary, boolean, each_part, each_statement, expression, identifier, implies,
    index, name, named_type, names, not, own_expressions, quantified, rebuilt, statement, text,
};
use crate::types::{Scope, Types, bind, counted_type};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Turns counters into sets, in declarations and rules; says whether there were any.
pub(crate) fn counters_to_sets(
    declarations: &mut Vec<Declaration>,
    flattened: &mut Flattened,
    types: &Types,
    processor: &Processor,
) -> Result<bool> {
    let sized = sized_constants(declarations, processor);
    if sized.is_empty() {
        return Ok(false);
    }
    let size = processor.size.as_deref();
    let constants = constants(declarations);
    let is_used = Cell::new(false);
    let sets = Sets { types, processor: &processor.name, size, sized: &sized, constants, is_used };
    for rule in &mut flattened.rules {
        sets.no_counters(&rule.quantifiers)?;
        let mut context = Context::new(types, &rule.quantifiers, &rule.body.declarations);
        if let Some(guard) = &mut rule.guard {
            *guard = sets.condition(&mut context, guard)?;
        }
        rule.body.statements = sets.statements(&mut context, &rule.body.statements)?;
        sets.declarations(&mut rule.body.declarations);
    }
    for start in &mut flattened.start_states {
        sets.no_counters(&start.quantifiers)?;
        let body = &mut start.item.1;
        let mut context = Context::new(types, &start.quantifiers, &body.declarations);
        body.statements = sets.statements(&mut context, &body.statements)?;
        sets.declarations(&mut body.declarations);
    }
    for property in &mut flattened.properties {
        sets.no_counters(&property.quantifiers)?;
        let mut context = Context::new(types, &property.quantifiers, &[]);
        property.item.condition = sets.condition(&mut context, &property.item.condition)?;
    }
    sets.declarations(declarations);
    sets.nothing_else(declarations, flattened)?;
    if sets.is_used.get() {
        sets.declare(declarations)?;
    }
    Ok(true)
}

fn constants(declarations: &[Declaration]) -> HashMap<String, Expression> {
    let mut found = HashMap::new();
    for declaration in declarations {
        if let DeclarationKind::Constant { names, value } = &declaration.kind {
            found.extend(names.iter().map(|name| (name.text.clone(), value.clone())));
        }
    }
    found
}

/// The constants that the number of processors depends on, and those that depend on it.
fn sized_constants(declarations: &[Declaration], processor: &Processor) -> HashSet<String> {
    let constants = constants(declarations);
    let mut sized: HashSet<String> = HashSet::new();
    let mut pending = processor.depends_on.clone();
    while let Some(name) = pending.pop() {
        if let Some(value) = constants.get(&name)
            && sized.insert(name)
        {
            pending.extend(names(value));
        }
    }
    for declaration in declarations {
        if let DeclarationKind::Constant { names: declared, value } = &declaration.kind
            && names(value).iter().any(|name| sized.contains(name))
        {
            sized.extend(declared.iter().map(|name| name.text.clone()));
        }
    }
    sized
}

struct Sets<'a> {
    types: &'a Types,
    processor: &'a str,
    /// The constant that says how many processors there are.
    size: Option<&'a str>,
    sized: &'a HashSet<String>,
    constants: HashMap<String, Expression>,
    /// Whether there are counters.
    is_used: Cell<bool>,
}

/// For how many processors a counter has room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    ForAll,
    /// One of them is never counted: an assertion says that this is one that the rule speaks of.
    ForAllButOne,
}

/// Where a statement stands.
struct Context {
    scope: Scope,
    /// Parameters that are processors.
    parameters: Vec<String>,
    /// Loop variables that are processors, the innermost last.
    loops: Vec<String>,
    /// What was bound before the outermost of these loops.
    outside: Scope,
    /// What has to be asserted before that loop.
    before_loops: Vec<Statement>,
}

impl Context {
    fn new(types: &Types, quantifiers: &[Quantifier], declarations: &[Declaration]) -> Self {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        for declaration in declarations {
            if let DeclarationKind::Variable(variables) = &declaration.kind {
                for name in &variables.names {
                    scope.insert(name.text.clone(), variables.ty.clone());
                }
            }
        }
        let processors = quantifiers.iter().filter(|each| types.over_processors(each));
        let parameters = processors.map(|each| each.name.text.clone()).collect();
        let (loops, outside, before_loops) = (Vec::new(), Scope::new(), Vec::new());
        Context { scope, parameters, loops, outside, before_loops }
    }
}

impl Sets<'_> {
    fn is_counter_type(&self, ty: &TypeExpression) -> bool {
        self.room(ty).is_some()
    }

    /// For how many processors something of a type has room, if it is a counter.
    fn room(&self, ty: &TypeExpression) -> Option<Room> {
        match &self.types.resolve(ty).kind {
            TypeKind::Range(low, high) if matches!(low.kind, ExpressionKind::Integer(0)) => {
                self.room_up_to(high)
            }
            _ => None,
        }
    }

    fn room_up_to(&self, high: &Expression) -> Option<Room> {
        match &high.kind {
            ExpressionKind::Name(name) if self.size == Some(name.as_str()) => Some(Room::ForAll),
            ExpressionKind::Name(name) => self.room_up_to(self.constants.get(name)?),
            ExpressionKind::Binary(operator, left, right) => {
                let ExpressionKind::Integer(number) = right.kind else { return None };
                match (operator, self.room_up_to(left)?, number) {
                    (BinaryOperator::Add, room, 0..) => Some(room),
                    (BinaryOperator::Subtract, Room::ForAll, 1) => Some(Room::ForAllButOne),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn room_of(&self, context: &Context, place: &Expression) -> Option<Room> {
        self.room(&self.types.of(&context.scope, place)?)
    }

    /// No variable goes through all that a counter may be.
    fn no_counters(&self, quantifiers: &[Quantifier]) -> Result<()> {
        let is_counter = |each: &&Quantifier| matches!(&each.domain, Domain::Type(ty) if self.is_counter_type(ty));
        match quantifiers.iter().find(is_counter) {
            Some(quantifier) => Err(refused(quantifier.span)),
            None => Ok(()),
        }
    }

    fn is_counter(&self, context: &Context, place: &Expression) -> bool {
        let is_place = matches!(
            place.kind,
            ExpressionKind::Name(_) | ExpressionKind::Field(..) | ExpressionKind::Index(..)
        );
        is_place && self.types.of(&context.scope, place).is_some_and(|ty| self.is_counter_type(&ty))
    }

    /// Declares the type of counters, behind that of processors.
    fn declare(&self, declarations: &mut Vec<Declaration>) -> Result<()> {
        let counted = counted_type(self.processor);
        let declares = |declaration: &Declaration, wanted: &str| match &declaration.kind {
            DeclarationKind::Type { names, .. } | DeclarationKind::Constant { names, .. } => {
                names.iter().any(|name| name.text == wanted)
            }
            DeclarationKind::Variable(variables) => {
                variables.names.iter().any(|name| name.text == wanted)
            }
        };
        if let Some(taken) = declarations.iter().find(|each| declares(each, &counted)) {
            let message = format!("`{counted}` is what counters of processors will be called");
            return Err(Diagnostic::error(taken.span, message).help("give this another name"));
        }
        let Some(at) = declarations.iter().position(|each| declares(each, self.processor)) else {
            return Ok(());
        };
        let span = declarations[at].span;
        let kind = TypeKind::Array {
            index: Box::new(named_type(self.processor, span)),
            element: Box::new(named_type("boolean", span)),
        };
        let kind = DeclarationKind::Type {
            names: vec![identifier(&counted, span)],
            definition: TypeExpression { kind, span },
        };
        declarations.insert(at + 1, Declaration { kind, span });
        Ok(())
    }

    fn declarations(&self, declarations: &mut [Declaration]) {
        for declaration in declarations {
            match &mut declaration.kind {
                DeclarationKind::Type { definition, .. } => self.retype(definition),
                DeclarationKind::Variable(variables) => self.retype(&mut variables.ty),
                DeclarationKind::Constant { .. } => {}
            }
        }
    }

    fn retype(&self, ty: &mut TypeExpression) {
        if !matches!(ty.kind, TypeKind::Named(_)) && self.is_counter_type(ty) {
            *ty = named_type(&counted_type(self.processor), ty.span);
            self.is_used.set(true);
            return;
        }
        match &mut ty.kind {
            TypeKind::Record(fields) => {
                fields.iter_mut().for_each(|field| self.retype(&mut field.ty))
            }
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                self.retype(element);
            }
            _ => {}
        }
    }

    /// Nothing depends on the number of processors any more.
    fn nothing_else(&self, declarations: &[Declaration], flattened: &Flattened) -> Result<()> {
        let mut found: Option<Span> = None;
        let mut look = |part: &Expression| {
            if let ExpressionKind::Name(name) = &part.kind
                && self.sized.contains(name)
            {
                found.get_or_insert(part.span);
            }
        };
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Type { names, definition }
                    if names.iter().all(|name| name.text != self.processor) =>
                {
                    each_bound(definition, &mut look);
                }
                DeclarationKind::Variable(variables) => each_bound(&variables.ty, &mut look),
                _ => {}
            }
        }
        for rule in &flattened.rules {
            each_domain(&rule.quantifiers, &mut look);
            rule.guard.iter().for_each(|guard| look_into(guard, &mut look));
            look_through(&rule.body, &mut look);
        }
        for start in &flattened.start_states {
            each_domain(&start.quantifiers, &mut look);
            look_through(&start.item.1, &mut look);
        }
        for property in &flattened.properties {
            each_domain(&property.quantifiers, &mut look);
            look_into(&property.item.condition, &mut look);
        }
        match found {
            Some(span) => Err(Diagnostic::error(
                span,
                "this depends on the number of processors, which is to be any number",
            )
            .help("only the size of the scalarset and counters `0..N` of processors may")),
            None => Ok(()),
        }
    }

    fn statements(
        &self,
        context: &mut Context,
        statements: &[Statement],
    ) -> Result<Vec<Statement>> {
        let mut done = Vec::new();
        for statement in statements {
            self.statement(context, statement, &mut done)?;
        }
        Ok(done)
    }

    fn statement(
        &self,
        context: &mut Context,
        whole: &Statement,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let span = whole.span;
        let kind = match &whole.kind {
            StatementKind::Assign { target, value } if self.is_counter(context, target) => {
                return self.set(context, target, value, span, done);
            }
            StatementKind::Clear(place) if self.is_counter(context, place) => {
                let zero = expression(ExpressionKind::Integer(0), span);
                return self.set(context, place, &zero, span, done);
            }
            StatementKind::Undefine(_) => whole.kind.clone(),
            StatementKind::If { branches, otherwise } => {
                let mut branches = branches.clone();
                for branch in &mut branches {
                    branch.condition = self.condition(context, &branch.condition)?;
                    branch.body = self.statements(context, &branch.body)?;
                }
                let otherwise = match otherwise {
                    Some(body) => Some(self.statements(context, body)?),
                    None => None,
                };
                StatementKind::If { branches, otherwise }
            }
            StatementKind::Switch { value, cases, otherwise } => {
                let value = self.condition(context, value)?;
                let mut cases = cases.clone();
                for case in &mut cases {
                    case.body = self.statements(context, &case.body)?;
                }
                let otherwise = match otherwise {
                    Some(body) => Some(self.statements(context, body)?),
                    None => None,
                };
                StatementKind::Switch { value, cases, otherwise }
            }
            StatementKind::For { quantifiers, body } => {
                self.no_counters(quantifiers)?;
                let (scope, loops) = (context.scope.clone(), context.loops.clone());
                if loops.is_empty() {
                    context.outside = scope.clone();
                }
                bind(&mut context.scope, quantifiers);
                let over = quantifiers.iter().filter(|each| self.types.over_processors(each));
                context.loops.extend(over.map(|each| each.name.text.clone()));
                let body = self.statements(context, body);
                (context.scope, context.loops) = (scope, loops);
                if context.loops.is_empty() {
                    done.append(&mut context.before_loops);
                }
                StatementKind::For { quantifiers: quantifiers.clone(), body: body? }
            }
            StatementKind::While { condition, body } => StatementKind::While {
                condition: self.condition(context, condition)?,
                body: self.statements(context, body)?,
            },
            _ => {
                let mut problem = None;
                let one = std::slice::from_ref(whole);
                let mut rebuilt = crate::syntax::rebuilt_statements(one, &mut |part| {
                    self.condition(context, part).unwrap_or_else(|found| {
                        problem.get_or_insert(found);
                        part.clone()
                    })
                });
                match problem {
                    Some(problem) => return Err(problem),
                    None => rebuilt.remove(0).kind,
                }
            }
        };
        done.push(Statement { kind, span });
        Ok(())
    }

    /// `counter := value`.
    fn set(
        &self,
        context: &mut Context,
        target: &Expression,
        value: &Expression,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        match &value.kind {
            ExpressionKind::Integer(0) => {
                let each = self.each(context);
                let element = index(target.clone(), name(&each, span));
                let empty = assign(element, boolean(false, span), span);
                done.push(self.for_each(&each, vec![empty], span));
                Ok(())
            }
            ExpressionKind::Binary(operator, left, right)
                if matches!(right.kind, ExpressionKind::Integer(1)) && same(left, target) =>
            {
                let one = self.counted(context, target, span)?;
                let element = index(target.clone(), name(&one, span));
                let is_tight = self.room_of(context, target) == Some(Room::ForAllButOne);
                if *operator == BinaryOperator::Add && is_tight {
                    self.one_is_left(context, target, &one, span, done)?;
                }
                let (before, message, after) = match operator {
                    BinaryOperator::Add => {
                        (not(element.clone()), "no processor is counted twice", true)
                    }
                    BinaryOperator::Subtract => {
                        (element.clone(), "only a processor that was counted is discounted", false)
                    }
                    _ => return Err(refused(span)),
                };
                done.push(asserted(before, message, span));
                done.push(assign(element, boolean(after, span), span));
                Ok(())
            }
            ExpressionKind::Binary(BinaryOperator::Subtract, left, right)
                if self.is_counter(context, left) && self.is_counter(context, right) =>
            {
                self.has_room(context, target, left)?;
                let each = self.each(context);
                let at = |set: &Expression| index(set.clone(), name(&each, span));
                let message = "only processors that were counted are discounted";
                let included = asserted(implies(at(right), at(left)), message, span);
                let difference = and(at(left), not(at(right)));
                let set = assign(at(target), difference, span);
                done.push(self.for_each(&each, vec![included, set], span));
                Ok(())
            }
            ExpressionKind::Undefined => {
                done.push(statement(StatementKind::Undefine(target.clone()), span));
                Ok(())
            }
            _ if self.is_counter(context, value) => {
                self.has_room(context, target, value)?;
                done.push(assign(target.clone(), value.clone(), span));
                Ok(())
            }
            _ => Err(refused(value.span)),
        }
    }

    /// A counter has room for all that another one has.
    fn has_room(&self, context: &Context, target: &Expression, from: &Expression) -> Result<()> {
        match (self.room_of(context, target), self.room_of(context, from)) {
            (Some(Room::ForAllButOne), Some(Room::ForAll)) => Err(refused(from.span)),
            _ => Ok(()),
        }
    }

    /// Asserts that a processor of the rule is not counted, now or before: then there is room. In a
    /// loop, before is before the loop.
    fn one_is_left(
        &self,
        context: &mut Context,
        target: &Expression,
        counted: &str,
        span: Span,
        done: &mut Vec<Statement>,
    ) -> Result<()> {
        let is_outside = |name: &String| {
            context.outside.contains_key(name) || self.types.declared().any(|other| other == name)
        };
        let is_movable = context.loops.is_empty() || names(target).iter().all(is_outside);
        let left = context.parameters.iter().find(|name| *name != counted);
        let (Some(left), true) = (left, is_movable) else {
            let message = "this counter has no room for all processors, and it is not evident which \
                           one is never counted";
            let help = "let it go up to the number of processors";
            return Err(Diagnostic::error(span, message).help(help));
        };
        let message = "one processor is never counted";
        let (left, counted) = (name(left, span), name(counted, span));
        let before = asserted(not(index(target.clone(), left.clone())), message, span);
        match context.loops.is_empty() {
            true => done.push(before),
            false => context.before_loops.push(before),
        }
        done.push(asserted(binary(BinaryOperator::NotEqual, counted, left), message, span));
        Ok(())
    }

    /// The processor that is counted by a statement.
    fn counted(&self, context: &Context, target: &Expression, span: Span) -> Result<String> {
        let used = names(target);
        let free = |name: &&String| !used.contains(*name);
        let found = context.loops.last().or_else(|| {
            let others = context.parameters.iter().rev().find(free);
            others.or(context.parameters.last())
        });
        found.cloned().ok_or_else(|| {
            Diagnostic::error(span, "it is not evident which processor is counted here")
                .help("count in a rule or a loop of that processor")
        })
    }

    /// A name for a loop variable.
    fn each(&self, context: &Context) -> String {
        let taken = |wish: &str| {
            context.scope.contains_key(wish) || self.types.declared().any(|name| name == wish)
        };
        let letters = ('p'..='z').map(|letter| letter.to_string());
        let numbered = (1..).map(|number| format!("p{number}"));
        letters.chain(numbered).find(|wish| !taken(wish)).unwrap_or_default()
    }

    fn for_each(&self, each: &str, body: Vec<Statement>, span: Span) -> Statement {
        let quantifiers = vec![self.types.processor_quantifier(each)];
        statement(StatementKind::For { quantifiers, body }, span)
    }

    /// An expression in which counters are compared with 0 only.
    fn condition(&self, context: &mut Context, whole: &Expression) -> Result<Expression> {
        if let ExpressionKind::Binary(operator, left, right) = &whole.kind
            && let Some((counter, empty)) = self.emptiness(context, *operator, left, right)
        {
            let empty = empty.ok_or_else(|| refused(whole.span))?;
            let each = self.each(context);
            let element = index(counter.clone(), name(&each, whole.span));
            let quantifiers = vec![self.types.processor_quantifier(&each)];
            let element = if empty { not(element) } else { element };
            return Ok(quantified(empty, quantifiers, element));
        }
        if let ExpressionKind::IsUndefined(place) = &whole.kind
            && self.is_counter(context, place)
        {
            let each = self.each(context);
            let element = index((**place).clone(), name(&each, whole.span));
            let element = expression(ExpressionKind::IsUndefined(Box::new(element)), whole.span);
            let quantifiers = vec![self.types.processor_quantifier(&each)];
            return Ok(quantified(false, quantifiers, element));
        }
        if self.is_counter(context, whole) {
            return Err(refused(whole.span));
        }
        let scope = context.scope.clone();
        if let ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
            self.no_counters(quantifiers)?;
            bind(&mut context.scope, quantifiers);
        }
        let mut problem = None;
        let done = rebuilt(whole, &mut |part| {
            self.condition(context, part).unwrap_or_else(|found| {
                problem.get_or_insert(found);
                part.clone()
            })
        });
        context.scope = scope;
        problem.map_or(Ok(done), Err)
    }

    /// A counter that is compared with 0, and whether that says that it is empty.
    fn emptiness<'e>(
        &self,
        context: &Context,
        operator: BinaryOperator,
        left: &'e Expression,
        right: &'e Expression,
    ) -> Option<(&'e Expression, Option<bool>)> {
        use BinaryOperator as B;
        let is_zero = |side: &Expression| matches!(side.kind, ExpressionKind::Integer(0));
        let on_left = self.is_counter(context, left);
        let on_right = self.is_counter(context, right);
        match (on_left, on_right) {
            (false, false) => None,
            (true, false) if is_zero(right) => {
                let empty = match operator {
                    B::Equal | B::LessOrEqual => Some(true),
                    B::NotEqual | B::Greater => Some(false),
                    _ => None,
                };
                Some((left, empty))
            }
            (false, true) if is_zero(left) => {
                let empty = match operator {
                    B::Equal | B::GreaterOrEqual => Some(true),
                    B::NotEqual | B::Less => Some(false),
                    _ => None,
                };
                Some((right, empty))
            }
            _ => Some((left, None)),
        }
    }
}

fn refused(span: Span) -> Diagnostic {
    Diagnostic::error(span, "this is not understood as counting processors").help(
        "a counter of processors may be set to 0, counted up or down by 1, copied, reduced by \
         another one, and compared with 0",
    )
}

fn same(left: &Expression, right: &Expression) -> bool {
    print_expression(left) == print_expression(right)
}

fn asserted(condition: Expression, message: &str, span: Span) -> Statement {
    let kind = PropertyKind::Assertion;
    let property = Property { kind, message: Some(text(message, span)), condition };
    statement(StatementKind::Property(property), span)
}

/// The bounds of ranges and sizes in a type.
fn each_bound(ty: &TypeExpression, visit: &mut dyn FnMut(&Expression)) {
    match &ty.kind {
        TypeKind::Range(low, high) => {
            each_part(low, visit);
            each_part(high, visit);
        }
        TypeKind::Record(fields) => fields.iter().for_each(|field| each_bound(&field.ty, visit)),
        TypeKind::Array { index, element } => {
            each_bound(index, visit);
            each_bound(element, visit);
        }
        TypeKind::Multiset { capacity, element } => {
            each_part(capacity, visit);
            each_bound(element, visit);
        }
        TypeKind::Scalarset(size) => each_part(size, visit),
        TypeKind::Union(members) => members.iter().for_each(|member| each_bound(member, visit)),
        _ => {}
    }
}

/// Every expression in the types and ranges that variables go through.
fn each_domain(quantifiers: &[Quantifier], visit: &mut dyn FnMut(&Expression)) {
    for quantifier in quantifiers {
        match &quantifier.domain {
            Domain::Type(ty) => each_bound(ty, visit),
            Domain::Range { from, to, by } => {
                [from, to].into_iter().chain(by).for_each(|bound| each_part(bound, visit));
            }
        }
    }
}

/// Every part of an expression, with the types of what it binds.
fn look_into(whole: &Expression, visit: &mut dyn FnMut(&Expression)) {
    each_part(whole, &mut |part| {
        visit(part);
        if let ExpressionKind::Quantified { quantifiers, .. } = &part.kind {
            each_domain(quantifiers, visit);
        }
    });
}

/// Every expression of a rule, with the types of its variables.
fn look_through(body: &Body, visit: &mut dyn FnMut(&Expression)) {
    for declaration in &body.declarations {
        if let DeclarationKind::Variable(variables) = &declaration.kind {
            each_bound(&variables.ty, visit);
        }
    }
    each_statement(&body.statements, &mut |statement| {
        own_expressions(statement).into_iter().for_each(|part| look_into(part, visit));
        if let StatementKind::For { quantifiers, .. } = &statement.kind {
            each_domain(quantifiers, visit);
        }
    });
}
