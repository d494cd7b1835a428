//! From what is written to the graph of what it means: names are looked up, functions are applied,
//! sets and relations are distinguished.
//!
//! Scoping is static: a definition hides an earlier one of its name from there on, and a function
//! sees what was defined where it was written. `let rec` means the least solution, so what it
//! defines may not stand to the right of `\` or under `~` in its own definition. The work is
//! bounded by a number of steps, because functions that apply functions can grow without bounds.

use diagnostics::diagnostic::Diagnostic;

use crate::base;
use crate::graph::{AxiomNode, Graph, Kind, NodeId, Operation};
use crate::syntax::{
    AxiomSyntax, Binary, Binding, Expression, ExpressionKind, Instruction, Name, Place, Unary,
};

/// How many expressions may be looked at and names passed over in search of another.
const MOST_STEPS: usize = 2_000_000;
/// How deep expressions may be nested once functions are applied, so that no stack runs out.
const DEEPEST: usize = 300;

/// Something wrong, in one of the files.
#[derive(Debug, Clone)]
pub(crate) struct ElaborationError {
    pub(crate) file: u32,
    pub(crate) diagnostic: Diagnostic,
    /// Whether it is that a name is not defined, which `try` catches.
    is_unknown_name: bool,
}

impl ElaborationError {
    fn new(place: Place, message: impl Into<String>) -> Self {
        let diagnostic = Diagnostic::error(place.span, message);
        ElaborationError { file: place.file, diagnostic, is_unknown_name: false }
    }

    fn help(self, help: impl Into<String>) -> Self {
        ElaborationError { diagnostic: self.diagnostic.help(help), ..self }
    }
}

/// What a name stands for.
#[derive(Clone, Copy)]
enum Meaning<'a> {
    Node(NodeId),
    /// `0`: a set or a relation, whichever is needed.
    Empty,
    Function {
        parameters: &'a [Name],
        body: &'a Expression,
        scope: Scope,
    },
}

/// The definitions that can be seen: the last of them, which knows the one before it.
type Scope = Option<u32>;

struct Definition<'a> {
    name: &'a str,
    meaning: Meaning<'a>,
    before: Scope,
}

/// Adds the lines of a model to a graph.
pub(crate) fn elaborate(instructions: &[Instruction]) -> Result<Graph, ElaborationError> {
    let mut elaborator = Elaborator {
        graph: Graph::default(),
        definitions: Vec::new(),
        steps: 0,
        depth: 0,
        in_recursion: false,
    };
    let mut scope = None;
    for instruction in instructions {
        match instruction {
            Instruction::Let { recursive, bindings } => {
                scope = elaborator.bind(*recursive, bindings, scope)?;
            }
            Instruction::Axiom(axiom) => elaborator.axiom(axiom, scope)?,
        }
    }
    Ok(elaborator.graph)
}

struct Elaborator<'a> {
    graph: Graph,
    definitions: Vec<Definition<'a>>,
    steps: usize,
    /// How many expressions are being looked at, each inside of the one before.
    depth: usize,
    in_recursion: bool,
}

impl<'a> Elaborator<'a> {
    fn axiom(&mut self, axiom: &'a AxiomSyntax, scope: Scope) -> Result<(), ElaborationError> {
        let wanted = match axiom.test {
            crate::syntax::Test::Empty => None,
            _ => Some(Kind::Relation),
        };
        let meaning = self.value(&axiom.body, scope)?;
        let node = match wanted {
            Some(kind) => self.of_kind(meaning, kind, &axiom.body)?,
            None => self.node(meaning, Kind::Relation),
        };
        let name = axiom
            .name
            .clone()
            .unwrap_or_else(|| format!("condition {}", self.graph.axioms.len() + 1));
        let AxiomSyntax { test, negated, place, .. } = *axiom;
        self.graph.axioms.push(AxiomNode { test, negated, node, name, place });
        Ok(())
    }

    /// The scope after definitions.
    fn bind(
        &mut self,
        recursive: bool,
        bindings: &'a [Binding],
        scope: Scope,
    ) -> Result<Scope, ElaborationError> {
        if recursive {
            return self.bind_recursive(bindings, scope);
        }
        let mut meanings = Vec::new();
        for binding in bindings {
            meanings.push(match &binding.parameters {
                Some(parameters) => Meaning::Function { parameters, body: &binding.body, scope },
                None => self.value(&binding.body, scope)?,
            });
        }
        let mut inner = scope;
        for (binding, meaning) in bindings.iter().zip(meanings) {
            inner = self.define(&binding.name.text, meaning, inner);
        }
        Ok(inner)
    }

    fn define(&mut self, name: &'a str, meaning: Meaning<'a>, before: Scope) -> Scope {
        self.definitions.push(Definition { name, meaning, before });
        Some(self.definitions.len() as u32 - 1)
    }

    fn bind_recursive(
        &mut self,
        bindings: &'a [Binding],
        scope: Scope,
    ) -> Result<Scope, ElaborationError> {
        let first = bindings.first().map_or(Place::default(), |binding| binding.name.place);
        if self.in_recursion {
            return Err(ElaborationError::new(
                first,
                "a recursive definition inside of another is not supported",
            ));
        }
        if let Some(function) = bindings.iter().find(|binding| binding.parameters.is_some()) {
            let place = function.name.place;
            return Err(ElaborationError::new(place, "recursive functions are not supported"));
        }
        let kinds = self.kinds_of_recursion(bindings, scope)?;
        let variables = self.graph.begin_recursion(&kinds);
        let mut inner = scope;
        for (binding, &variable) in bindings.iter().zip(&variables) {
            inner = self.define(&binding.name.text, Meaning::Node(variable), inner);
        }
        self.in_recursion = true;
        let mut bodies = Vec::new();
        for (binding, &kind) in bindings.iter().zip(&kinds) {
            let meaning = self.value(&binding.body, inner)?;
            bodies.push(self.of_kind(meaning, kind, &binding.body)?);
        }
        self.in_recursion = false;
        let fixpoints = self.graph.end_recursion(&bodies);
        let mut after = scope;
        for (binding, &fixpoint) in bindings.iter().zip(&fixpoints) {
            after = self.define(&binding.name.text, Meaning::Node(fixpoint), after);
        }
        Ok(after)
    }

    /// Whether each name of a recursion is a set or a relation: what its body is if nothing is known
    /// about the others, and again with what was found out, until all are known. What stays unknown
    /// is empty, and called a relation.
    fn kinds_of_recursion(
        &mut self,
        bindings: &'a [Binding],
        scope: Scope,
    ) -> Result<Vec<Kind>, ElaborationError> {
        let mut known: Vec<Option<Kind>> = vec![None; bindings.len()];
        for _ in 0..=bindings.len() {
            for at in 0..bindings.len() {
                let names: Vec<(&str, Option<Kind>)> = bindings
                    .iter()
                    .zip(&known)
                    .map(|(binding, &kind)| (binding.name.text.as_str(), kind))
                    .collect();
                known[at] = known[at].or(self.kind_of(&bindings[at].body, &names, scope)?);
            }
        }
        Ok(known.into_iter().map(|kind| kind.unwrap_or(Kind::Relation)).collect())
    }

    /// Whether an expression is a set or a relation, if that can be determined with what is known of some
    /// names; from its operators alone where that is enough.
    fn kind_of(
        &mut self,
        expression: &'a Expression,
        names: &[(&str, Option<Kind>)],
        scope: Scope,
    ) -> Result<Option<Kind>, ElaborationError> {
        self.enter(expression.place)?;
        let kind = self.kind_inside(expression, names, scope);
        self.depth -= 1;
        kind
    }

    fn kind_inside(
        &mut self,
        expression: &'a Expression,
        names: &[(&str, Option<Kind>)],
        scope: Scope,
    ) -> Result<Option<Kind>, ElaborationError> {
        Ok(match &expression.kind {
            ExpressionKind::Name(name) => match names.iter().find(|(known, _)| known == name) {
                Some(&(_, kind)) => kind,
                None => match self.look_up(name, expression.place, scope)? {
                    Meaning::Node(node) => Some(self.graph.kind(node)),
                    Meaning::Empty | Meaning::Function { .. } => None,
                },
            },
            ExpressionKind::Empty => None,
            ExpressionKind::Universe => Some(Kind::Set),
            ExpressionKind::Identity(_)
            | ExpressionKind::Unary(
                Unary::Inverse | Unary::Plus | Unary::Star | Unary::Optional,
                _,
            )
            | ExpressionKind::Binary(Binary::Sequence | Binary::Product, _) => Some(Kind::Relation),
            ExpressionKind::Unary(Unary::Complement, inner) => self.kind_of(inner, names, scope)?,
            ExpressionKind::Binary(_, operands) => {
                for operand in operands {
                    if let Some(kind) = self.kind_of(operand, names, scope)? {
                        return Ok(Some(kind));
                    }
                }
                None
            }
            ExpressionKind::Apply { function, arguments } => match function.text.as_str() {
                "domain" | "range" => Some(Kind::Set),
                _ => match self.look_up(&function.text, function.place, scope)? {
                    Meaning::Function { body, parameters, scope: defined_in } => {
                        let mut inner: Vec<(&str, Option<Kind>)> = Vec::new();
                        for (parameter, argument) in parameters.iter().zip(arguments) {
                            inner.push((&parameter.text, self.kind_of(argument, names, scope)?));
                        }
                        self.kind_of(body, &inner, defined_in)?
                    }
                    Meaning::Node(_) | Meaning::Empty => None,
                },
            },
            ExpressionKind::Let { body, .. } => {
                // What is defined inside hides names, so that only the operators are looked at.
                match &body.kind {
                    ExpressionKind::Name(_) => None,
                    _ => self.kind_of(body, names, scope).unwrap_or(None),
                }
            }
            ExpressionKind::Try { first, otherwise } => match self.kind_of(first, names, scope) {
                Ok(Some(kind)) => Some(kind),
                Ok(None) | Err(ElaborationError { is_unknown_name: true, .. }) => {
                    self.kind_of(otherwise, names, scope)?
                }
                Err(mistake) => return Err(mistake),
            },
        })
    }

    /// Goes into an expression, which is left by taking one from the depth.
    fn enter(&mut self, place: Place) -> Result<(), ElaborationError> {
        self.step(place)?;
        if self.depth >= DEEPEST {
            let message =
                format!("functions are applied within each other more than {DEEPEST} levels deep");
            return Err(ElaborationError::new(place, message));
        }
        self.depth += 1;
        Ok(())
    }

    fn step(&mut self, place: Place) -> Result<(), ElaborationError> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return Err(ElaborationError::new(
                place,
                "the model is too large: its functions expand too far",
            ));
        }
        Ok(())
    }

    /// What a name stands for here.
    fn look_up(
        &mut self,
        name: &str,
        place: Place,
        scope: Scope,
    ) -> Result<Meaning<'a>, ElaborationError> {
        let mut at = scope;
        while let Some(index) = at {
            self.step(place)?;
            let definition = &self.definitions[index as usize];
            if definition.name == name {
                return Ok(definition.meaning);
            }
            at = definition.before;
        }
        if let Some(set) = base::set(name) {
            return Ok(Meaning::Node(self.graph.add(Operation::BaseSet(set), Kind::Set)));
        }
        if let Some(relation) = base::relation(name) {
            let node = self.graph.add(Operation::BaseRelation(relation), Kind::Relation);
            return Ok(Meaning::Node(node));
        }
        Err(self.unknown(name, place, scope))
    }

    fn unknown(&self, name: &str, place: Place, scope: Scope) -> ElaborationError {
        let mistake = ElaborationError {
            is_unknown_name: true,
            ..ElaborationError::new(place, format!("`{name}` is not defined"))
        };
        let mut at = scope;
        while let Some(index) = at {
            let definition = &self.definitions[index as usize];
            if definition.name.eq_ignore_ascii_case(name) {
                return mistake.help(format!("did you mean `{}`?", definition.name));
            }
            at = definition.before;
        }
        match name {
            "FW" => mistake.help("final writes (`FW`) are not supported"),
            _ => mistake,
        }
    }

    fn node(&mut self, meaning: Meaning<'a>, empty: Kind) -> NodeId {
        match meaning {
            Meaning::Node(node) => node,
            _ => self.graph.add(Operation::Empty(empty), empty),
        }
    }

    fn of_kind(
        &mut self,
        meaning: Meaning<'a>,
        kind: Kind,
        at: &Expression,
    ) -> Result<NodeId, ElaborationError> {
        let node = self.node(meaning, kind);
        if self.graph.kind(node) == kind {
            return Ok(node);
        }
        Err(match kind {
            Kind::Relation => ElaborationError::new(at.place, "expected a relation, found a set")
                .help("`[S]` is the identity on a set S, `S * T` relates all of S to all of T"),
            Kind::Set => ElaborationError::new(at.place, "expected a set, found a relation")
                .help("`domain(r)` and `range(r)` are sets"),
        })
    }

    fn relation(
        &mut self,
        expression: &'a Expression,
        scope: Scope,
    ) -> Result<NodeId, ElaborationError> {
        let meaning = self.value(expression, scope)?;
        self.of_kind(meaning, Kind::Relation, expression)
    }

    fn set(
        &mut self,
        expression: &'a Expression,
        scope: Scope,
    ) -> Result<NodeId, ElaborationError> {
        let meaning = self.value(expression, scope)?;
        self.of_kind(meaning, Kind::Set, expression)
    }

    /// What an expression is: a node, or nothing.
    fn value(
        &mut self,
        expression: &'a Expression,
        scope: Scope,
    ) -> Result<Meaning<'a>, ElaborationError> {
        self.enter(expression.place)?;
        let value = self.value_of(expression, scope);
        self.depth -= 1;
        value
    }

    fn value_of(
        &mut self,
        expression: &'a Expression,
        scope: Scope,
    ) -> Result<Meaning<'a>, ElaborationError> {
        let node = match &expression.kind {
            ExpressionKind::Empty => return Ok(Meaning::Empty),
            ExpressionKind::Name(name) => {
                let meaning = self.look_up(name, expression.place, scope)?;
                if let Meaning::Function { .. } = meaning {
                    let message = format!("`{name}` is a function; it needs arguments in brackets");
                    return Err(ElaborationError::new(expression.place, message));
                }
                return Ok(meaning);
            }
            ExpressionKind::Universe => self.graph.add(Operation::Universe, Kind::Set),
            ExpressionKind::Identity(inner) => {
                let set = self.set(inner, scope)?;
                self.graph.add(Operation::Identity(set), Kind::Relation)
            }
            ExpressionKind::Unary(operator, inner) => self.unary(*operator, inner, scope)?,
            ExpressionKind::Binary(operator, operands) => {
                return self.binary(*operator, operands, scope);
            }
            ExpressionKind::Apply { function, arguments } => {
                return self.apply(function, arguments, scope);
            }
            ExpressionKind::Let { recursive, bindings, body } => {
                let inner = self.bind(*recursive, bindings, scope)?;
                return self.value(body, inner);
            }
            ExpressionKind::Try { first, otherwise } => {
                return match self.value(first, scope) {
                    Err(ElaborationError { is_unknown_name: true, .. }) => {
                        self.value(otherwise, scope)
                    }
                    other => other,
                };
            }
        };
        Ok(Meaning::Node(node))
    }

    fn unary(
        &mut self,
        operator: Unary,
        inner: &'a Expression,
        scope: Scope,
    ) -> Result<NodeId, ElaborationError> {
        if operator == Unary::Complement {
            let meaning = self.value(inner, scope)?;
            let node = self.node(meaning, Kind::Relation);
            self.refuse_open(node, inner)?;
            return Ok(self.graph.add(Operation::Complement(node), self.graph.kind(node)));
        }
        let node = self.relation(inner, scope)?;
        let mut relation = |operation| self.graph.add(operation, Kind::Relation);
        Ok(match operator {
            Unary::Inverse => relation(Operation::Inverse(node)),
            Unary::Plus => relation(Operation::Plus(node)),
            Unary::Star => {
                let plus = relation(Operation::Plus(node));
                relation(Operation::Optional(plus))
            }
            Unary::Optional | Unary::Complement => relation(Operation::Optional(node)),
        })
    }

    /// What a recursive definition defines may not be taken away in it.
    fn refuse_open(&self, node: NodeId, at: &Expression) -> Result<(), ElaborationError> {
        if !self.graph.node(node).is_open {
            return Ok(());
        }
        let message = "a recursive definition may not negate or subtract what it defines";
        Err(ElaborationError::new(at.place, message).help(
            "`let rec` is a least fixpoint, which need not exist under `~` or on the right of `\\`",
        ))
    }

    fn binary(
        &mut self,
        operator: Binary,
        operands: &'a [Expression],
        scope: Scope,
    ) -> Result<Meaning<'a>, ElaborationError> {
        let Some((first, others)) = operands.split_first() else { return Ok(Meaning::Empty) };
        let mut left = self.value(first, scope)?;
        for operand in others {
            let right = self.value(operand, scope)?;
            left = self.pair(operator, (left, first), (right, operand))?;
        }
        Ok(left)
    }

    fn pair(
        &mut self,
        operator: Binary,
        (left, left_at): (Meaning<'a>, &'a Expression),
        (right, right_at): (Meaning<'a>, &'a Expression),
    ) -> Result<Meaning<'a>, ElaborationError> {
        let node = match operator {
            Binary::Sequence => {
                let left = self.of_kind(left, Kind::Relation, left_at)?;
                let right = self.of_kind(right, Kind::Relation, right_at)?;
                self.graph.add(Operation::Sequence(left, right), Kind::Relation)
            }
            Binary::Product => {
                let left = self.of_kind(left, Kind::Set, left_at)?;
                let right = self.of_kind(right, Kind::Set, right_at)?;
                self.graph.add(Operation::Product(left, right), Kind::Relation)
            }
            Binary::Union | Binary::Intersection | Binary::Difference => {
                let kind = match (left, right) {
                    (Meaning::Node(node), _) | (_, Meaning::Node(node)) => self.graph.kind(node),
                    _ => return Ok(Meaning::Empty),
                };
                let left = self.of_kind(left, kind, left_at)?;
                let right = self.of_kind(right, kind, right_at)?;
                let operation = match operator {
                    Binary::Union => Operation::Union(left, right),
                    Binary::Intersection => Operation::Intersection(left, right),
                    _ => {
                        self.refuse_open(right, right_at)?;
                        Operation::Difference(left, right)
                    }
                };
                self.graph.add(operation, kind)
            }
        };
        Ok(Meaning::Node(node))
    }

    fn apply(
        &mut self,
        function: &'a Name,
        arguments: &'a [Expression],
        scope: Scope,
    ) -> Result<Meaning<'a>, ElaborationError> {
        if let ("domain" | "range", [argument]) = (function.text.as_str(), arguments) {
            let relation = self.relation(argument, scope)?;
            let operation = match function.text.as_str() {
                "domain" => Operation::Domain(relation),
                _ => Operation::Range(relation),
            };
            return Ok(Meaning::Node(self.graph.add(operation, Kind::Set)));
        }
        let Meaning::Function { parameters, body, scope: mut inner } =
            self.look_up(&function.text, function.place, scope)?
        else {
            let message = format!("`{}` is not a function", function.text);
            return Err(ElaborationError::new(function.place, message)
                .help("is an operator missing after it?"));
        };
        if parameters.len() != arguments.len() {
            let (wanted, given) = (parameters.len(), arguments.len());
            let message = format!("`{}` takes {wanted} arguments, not {given}", function.text);
            return Err(ElaborationError::new(function.place, message));
        }
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let meaning = self.value(argument, scope)?;
            inner = self.define(&parameter.text, meaning, inner);
        }
        self.value(body, inner)
    }
}
