//! `exists`, `~exists`, `forall`, and propositions.
//!
//! `not` binds tightest, then `=>` (to the right), then `/\`, then `\/`. Parentheses may be nested
//! as deep as one likes: operators wait on a stack of ours.

use diagnostics::diagnostic::Diagnostic;

use super::Parser;
use crate::condition::{Condition, Node, Proposition, Quantifier};
use crate::scan::{Kind, Token};
use crate::test::Place;

/// What a test without a condition asks.
pub(super) fn nothing_asked() -> Condition {
    Condition { quantifier: Quantifier::ForAll, proposition: Proposition::always() }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Open,
    Or,
    And,
    Implies,
    Not,
}

/// Operators that wait for their right side, and parts that are finished.
#[derive(Default)]
struct Stack {
    nodes: Vec<Node>,
    /// Finished parts that no operator has taken yet.
    parts: Vec<u32>,
    operators: Vec<Operator>,
}

impl Stack {
    fn push(&mut self, node: Node) {
        self.parts.push(self.nodes.len() as u32);
        self.nodes.push(node);
    }

    /// Adds the conjunction of some nodes.
    fn push_all(&mut self, nodes: Vec<Node>) {
        for (number, node) in nodes.into_iter().enumerate() {
            self.push(node);
            if number > 0 {
                let right = self.part();
                let left = self.part();
                self.push(Node::And(left, right));
            }
        }
    }

    fn part(&mut self) -> u32 {
        self.parts.pop().expect("an operator is applied only after its operands")
    }

    /// Applies the operators that wait and bind at least this tightly.
    fn apply_down_to(&mut self, weakest: Operator) {
        while self.operators.last().is_some_and(|&waiting| waiting >= weakest) {
            let operator = self.operators.pop();
            let right = self.part();
            let node = match operator {
                Some(Operator::Not) => Node::Not(right),
                Some(Operator::Implies) => Node::Implies(self.part(), right),
                Some(Operator::And) => Node::And(self.part(), right),
                _ => Node::Or(self.part(), right),
            };
            self.push(node);
        }
    }

    fn infix(&mut self, operator: Operator) {
        // To the right: an implication waits for the one after it.
        let weakest = if operator == Operator::Implies { Operator::Not } else { operator };
        self.apply_down_to(weakest);
        self.operators.push(operator);
    }
}

impl Parser<'_> {
    pub(super) fn condition(&mut self) -> Result<(), Diagnostic> {
        let quantifier = if self.accept("~") || self.accept("not") {
            self.expect("exists", "after `~`")?;
            Some(Quantifier::NotExists)
        } else if self.accept("exists") || self.accept("final") || self.is("(") {
            Some(Quantifier::Exists)
        } else if self.accept("forall") {
            Some(Quantifier::ForAll)
        } else {
            None
        };
        if let Some(quantifier) = quantifier {
            let proposition = self.proposition()?;
            self.test.condition = Condition { quantifier, proposition };
        }
        self.accept(";");
        if self.accept("with") {
            self.kinds()?;
        }
        if self.peek().kind == Kind::End {
            return Ok(());
        }
        Err(self.unexpected(match quantifier {
            Some(_) => "the end of the test, or `/\\`, `\\/` or `=>` and more of the condition",
            None => "`exists`, `~exists` or `forall`",
        }))
    }

    /// `with tso: ~exists; sc: forall`: what old tests expect of models, which changes no outcome.
    fn kinds(&mut self) -> Result<(), Diagnostic> {
        loop {
            self.word("the name of a model")?;
            self.expect(":", "after the name of the model")?;
            let negated = self.accept("~") || self.accept("not");
            if !self.accept("exists") && (negated || !self.accept("forall")) {
                return Err(self.unexpected("`exists`, `~exists` or `forall`"));
            }
            if !self.accept(";") || self.peek().kind == Kind::End {
                return Ok(());
            }
        }
    }

    /// A proposition.
    pub(super) fn proposition(&mut self) -> Result<Proposition, Diagnostic> {
        let mut stack = Stack::default();
        let mut open: Vec<Token<'_>> = Vec::new();
        loop {
            // Before an operand.
            while self.is("not") || self.is("~") || self.is("(") {
                let token = self.take();
                let operator = if token.text == "(" { Operator::Open } else { Operator::Not };
                if operator == Operator::Open {
                    open.push(token);
                }
                stack.operators.push(operator);
            }
            let negated = match self.array_atoms()? {
                Some((elements, negated)) => {
                    stack.push_all(elements);
                    negated
                }
                None => {
                    let (atom, negated) = self.atom()?;
                    stack.push(atom);
                    negated
                }
            };
            if negated {
                let atom = stack.part();
                stack.push(Node::Not(atom));
            }
            self.after_operand(&mut stack, &mut open);
            let operator = match self.peek().text {
                "/\\" => Operator::And,
                "\\/" => Operator::Or,
                "=>" => Operator::Implies,
                _ => break,
            };
            self.take();
            stack.infix(operator);
        }
        if let Some(token) = open.pop() {
            let expected = "`)`, `/\\`, `\\/` or `=>`";
            return Err(self
                .unexpected(expected)
                .related(token.span, "this parenthesis is not closed"));
        }
        stack.apply_down_to(Operator::Or);
        Ok(Proposition { nodes: stack.nodes })
    }

    /// Closes parentheses.
    fn after_operand(&mut self, stack: &mut Stack, open: &mut Vec<Token<'_>>) {
        while !open.is_empty() && self.accept(")") {
            stack.apply_down_to(Operator::Or);
            stack.operators.pop();
            open.pop();
        }
    }

    /// `true`, `0:rax=1`, `0:rax=1:rbx`, or `x!=1`, which is to be negated.
    fn atom(&mut self) -> Result<(Node, bool), Diagnostic> {
        let followed = self.peek_second().text;
        if !matches!(followed, "=" | "==" | "!=" | "<>" | ":") {
            if self.accept("true") {
                return Ok((Node::Constant(true), false));
            }
            if self.accept("false") {
                return Ok((Node::Constant(false), false));
            }
        }
        let place = self.place()?;
        let negated = self.accept("!=") || self.accept("<>");
        if !negated && !self.accept("=") && !self.accept("==") {
            return Err(self.unexpected("`=` and a value"));
        }
        let atom = match self.place_on_the_right()? {
            Some(other) => Node::Same(place, other),
            None => Node::Equals(place, self.constant()?),
        };
        Ok((atom, negated))
    }

    /// `x={1,2}`, where `x` is an array: what is said of its elements, and whether it is to be negated.
    fn array_atoms(&mut self) -> Result<Option<(Vec<Node>, bool)>, Diagnostic> {
        let is_comparison = matches!(self.peek_second().text, "=" | "==" | "!=" | "<>");
        let name = self.peek();
        if !is_comparison {
            return Ok(None);
        }
        let Some(elements) = self.whole_array() else { return Ok(None) };
        let negated = matches!(self.take().text, "!=" | "<>");
        let values = self.element_values(name, elements.len())?;
        let equals = elements.zip(values).map(|(id, value)| Node::Equals(Place::Memory(id), value));
        Ok(Some((equals.collect(), negated)))
    }

    /// A place whose value is meant, if it is one: a bare name on the right means an address.
    fn place_on_the_right(&mut self) -> Result<Option<Place>, Diagnostic> {
        let register = self.peek_second().text == ":";
        if register || self.is("[") || self.is("*") {
            return Ok(Some(self.place()?));
        }
        Ok(None)
    }
}
