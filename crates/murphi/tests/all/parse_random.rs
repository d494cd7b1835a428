//! The parser on random trees and random texts.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use tribunal_murphi::ast::*;
use tribunal_murphi::parse::parse;
use tribunal_murphi::print::print;
use tribunal_murphi::source::{Source, Span};

fn source(text: &str) -> Source {
    Source { name: "m.m".to_string(), text: text.to_string() }
}

/// The tree without its spans.
fn shape(program: &Program) -> String {
    let mut shape = String::new();
    let text = format!("{program:?}");
    let mut rest = text.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        shape.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').expect("a span is closed") + 1..];
    }
    shape + rest
}

const SPAN: Span = Span { start: 0, end: 0 };

fn name() -> impl Strategy<Value = Name> + Clone {
    // Some are words of one of the tools only.
    let words = ["a", "b", "T", "x1", "log", "choose", "in", "process", "true"];
    select(words.to_vec()).prop_map(|text| Name { text: text.to_string(), span: SPAN })
}

fn names() -> impl Strategy<Value = Vec<Name>> {
    vec(name(), 1..3)
}

fn text() -> impl Strategy<Value = Text> {
    let pieces = ["a", " ", "\"", "\\", "\n", "ü", "--", "n"];
    vec(select(pieces.to_vec()), 0..4).prop_map(|pieces| Text { text: pieces.concat(), span: SPAN })
}

fn expression_of(kind: ExpressionKind) -> Expression {
    Expression { kind, span: SPAN }
}

fn designator_around(
    inner: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = Expression> + Clone {
    let start = name().prop_map(|name| expression_of(ExpressionKind::Name(name.text)));
    let step = prop_oneof![name().prop_map(Ok), inner.prop_map(Err)];
    (start, vec(step, 0..3)).prop_map(|(start, steps)| {
        steps.into_iter().fold(start, |place, step| {
            expression_of(match step {
                Ok(field) => ExpressionKind::Field(Box::new(place), field),
                Err(index) => ExpressionKind::Index(Box::new(place), Box::new(index)),
            })
        })
    })
}

fn unary() -> impl Strategy<Value = UnaryOperator> {
    use UnaryOperator::{Complement, Negate, Not, Plus};
    select(&[Not, Plus, Negate, Complement][..])
}

fn binary() -> impl Strategy<Value = BinaryOperator> {
    use BinaryOperator::*;
    const ALL: &[BinaryOperator] = &[
        Implies,
        LogicalOr,
        LogicalAnd,
        Or,
        Xor,
        And,
        Equal,
        NotEqual,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        ShiftLeft,
        ShiftRight,
        Add,
        Subtract,
        Multiply,
        Divide,
        Remainder,
    ];
    select(ALL)
}

fn filter_around(
    inner: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = MultisetFilter> {
    (name(), designator_around(inner.clone()), inner).prop_map(|(name, multiset, condition)| {
        MultisetFilter { name, multiset: Box::new(multiset), condition: Box::new(condition) }
    })
}

fn quantifiers_around(
    inner: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = Vec<Quantifier>> {
    let domain = prop_oneof![
        type_around(inner.clone()).prop_map(Domain::Type),
        (inner.clone(), inner.clone(), option::of(inner))
            .prop_map(|(from, to, by)| Domain::Range { from, to, by }),
    ];
    let quantifier =
        (name(), domain).prop_map(|(name, domain)| Quantifier { name, domain, span: SPAN });
    vec(quantifier, 1..3)
}

/// Types of one level whose expressions are given.
fn type_around(
    inner: impl Strategy<Value = Expression> + Clone + 'static,
) -> impl Strategy<Value = TypeExpression> + Clone {
    let boxed = inner.prop_map(Box::new);
    prop_oneof![
        name().prop_map(TypeKind::Named),
        (boxed.clone(), boxed.clone()).prop_map(|(low, high)| TypeKind::Range(low, high)),
        boxed.clone().prop_map(TypeKind::Scalarset),
        (boxed.clone(), boxed).prop_map(|(digits, exponent)| TypeKind::Real(digits, exponent)),
        vec(name(), 0..3).prop_map(TypeKind::Enumeration),
    ]
    .prop_map(|kind| TypeExpression { kind, span: SPAN })
    .boxed()
}

fn expression() -> BoxedStrategy<Expression> {
    let leaf = prop_oneof![
        (0..i64::MAX).prop_map(ExpressionKind::Integer),
        (0..10i64).prop_map(ExpressionKind::Integer),
        name().prop_map(|name| ExpressionKind::Name(name.text)),
        Just(ExpressionKind::Real("1.50".to_string())),
    ]
    .prop_map(expression_of);
    leaf.prop_recursive(5, 40, 3, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            4 => (binary(), boxed.clone(), boxed.clone())
                .prop_map(|(operator, left, right)| ExpressionKind::Binary(operator, left, right)),
            2 => (unary(), boxed.clone())
                .prop_map(|(operator, operand)| ExpressionKind::Unary(operator, operand)),
            1 => (boxed.clone(), boxed.clone(), boxed.clone())
                .prop_map(|(a, b, c)| ExpressionKind::Conditional(a, b, c)),
            1 => (name(), vec(inner.clone(), 0..3))
                .prop_map(|(name, arguments)| ExpressionKind::Call(Call { name, arguments })),
            1 => (any::<bool>(), quantifiers_around(inner.clone()), boxed.clone()).prop_map(
                |(all, quantifiers, condition)| ExpressionKind::Quantified {
                    all,
                    quantifiers,
                    condition
                }
            ),
            1 => designator_around(inner.clone()).prop_map(|place| place.kind),
            1 => designator_around(inner.clone())
                .prop_map(|place| ExpressionKind::IsUndefined(Box::new(place))),
            1 => (boxed, type_around(inner.clone()))
                .prop_map(|(value, member)| ExpressionKind::IsMember(value, Box::new(member))),
            1 => filter_around(inner).prop_map(ExpressionKind::MultisetCount),
        ]
        .prop_map(expression_of)
    })
    .boxed()
}

fn designator() -> impl Strategy<Value = Expression> + Clone {
    designator_around(expression())
}

fn variables_around(
    inner: impl Strategy<Value = TypeExpression>,
) -> impl Strategy<Value = Variables> {
    (names(), inner).prop_map(|(names, ty)| Variables { names, ty })
}

fn type_expression() -> BoxedStrategy<TypeExpression> {
    type_around(expression())
        .prop_recursive(3, 12, 3, |inner| {
            let boxed = inner.clone().prop_map(Box::new);
            prop_oneof![
                (boxed.clone(), boxed.clone())
                    .prop_map(|(index, element)| TypeKind::Array { index, element }),
                (expression().prop_map(Box::new), boxed)
                    .prop_map(|(capacity, element)| TypeKind::Multiset { capacity, element }),
                vec(variables_around(inner.clone()), 0..3).prop_map(TypeKind::Record),
                vec(inner, 0..3).prop_map(TypeKind::Union),
            ]
            .prop_map(|kind| TypeExpression { kind, span: SPAN })
        })
        .boxed()
}

fn declaration() -> impl Strategy<Value = Declaration> {
    prop_oneof![
        (names(), expression())
            .prop_map(|(names, value)| DeclarationKind::Constant { names, value }),
        (names(), type_expression())
            .prop_map(|(names, definition)| DeclarationKind::Type { names, definition }),
        variables_around(type_expression()).prop_map(DeclarationKind::Variable),
    ]
    .prop_map(|kind| Declaration { kind, span: SPAN })
}

fn property() -> impl Strategy<Value = Property> {
    use PropertyKind::{Assertion, Assumption, Cover, Liveness};
    let kind = select(&[Assertion, Assumption, Cover, Liveness][..]);
    (kind, option::of(text()), expression()).prop_map(|(kind, message, condition)| Property {
        kind,
        message,
        condition,
    })
}

fn aliases() -> impl Strategy<Value = Vec<Alias>> {
    vec((name(), expression()).prop_map(|(name, value)| Alias { name, value }), 1..3)
}

fn value() -> impl Strategy<Value = Expression> {
    prop_oneof![expression(), Just(expression_of(ExpressionKind::Undefined))]
}

fn simple_statement() -> impl Strategy<Value = StatementKind> {
    prop_oneof![
        (designator(), value()).prop_map(|(target, value)| StatementKind::Assign { target, value }),
        (name(), vec(value(), 0..3))
            .prop_map(|(name, arguments)| StatementKind::Call(Call { name, arguments })),
        option::of(expression()).prop_map(StatementKind::Return),
        designator().prop_map(StatementKind::Clear),
        designator().prop_map(StatementKind::Undefine),
        text().prop_map(StatementKind::Error),
        property().prop_map(StatementKind::Property),
        text().prop_map(StatementKind::PutText),
        expression().prop_map(StatementKind::Put),
        (expression(), designator())
            .prop_map(|(value, multiset)| StatementKind::MultisetAdd { value, multiset }),
        (expression(), designator())
            .prop_map(|(position, multiset)| StatementKind::MultisetRemove { position, multiset }),
        filter_around(expression()).prop_map(StatementKind::MultisetRemoveWhere),
    ]
}

fn statement() -> BoxedStrategy<Statement> {
    simple_statement()
        .prop_map(|kind| Statement { kind, span: SPAN })
        .prop_recursive(3, 10, 3, |inner| {
            let body = vec(inner, 0..3);
            let branch = (expression(), body.clone())
                .prop_map(|(condition, body)| Branch { condition, body });
            let case = (vec(expression(), 0..3), body.clone()).prop_map(|(values, body)| Case {
                values,
                body,
                span: SPAN,
            });
            prop_oneof![
                (vec(branch, 1..3), option::of(body.clone()))
                    .prop_map(|(branches, otherwise)| StatementKind::If { branches, otherwise }),
                (expression(), vec(case, 0..3), option::of(body.clone())).prop_map(
                    |(value, cases, otherwise)| StatementKind::Switch { value, cases, otherwise }
                ),
                (quantifiers_around(expression()), body.clone())
                    .prop_map(|(quantifiers, body)| StatementKind::For { quantifiers, body }),
                (expression(), body.clone())
                    .prop_map(|(condition, body)| StatementKind::While { condition, body }),
                (aliases(), body)
                    .prop_map(|(aliases, body)| StatementKind::Alias { aliases, body }),
            ]
            .prop_map(|kind| Statement { kind, span: SPAN })
        })
        .boxed()
}

fn body() -> impl Strategy<Value = Body> {
    (vec(declaration(), 0..2), vec(statement(), 0..3))
        .prop_map(|(declarations, statements)| Body { declarations, statements })
}

fn function() -> impl Strategy<Value = Function> {
    let parameter = (any::<bool>(), names(), type_expression())
        .prop_map(|(by_reference, names, ty)| Parameter { by_reference, names, ty, span: SPAN });
    let definition = prop_oneof![
        body().prop_map(FunctionDefinition::Body),
        option::of(text()).prop_map(FunctionDefinition::External),
    ];
    (name(), vec(parameter, 0..3), option::of(type_expression()), definition).prop_map(
        |(name, parameters, result, definition)| Function {
            name,
            parameters,
            result,
            definition,
            span: SPAN,
        },
    )
}

fn rule() -> BoxedStrategy<Rule> {
    let priority = option::of((0..9i64).prop_map(|value| Number { value, span: SPAN }));
    let simple = prop_oneof![
        (option::of(text()), body()).prop_map(|(name, body)| RuleKind::StartState { name, body }),
        (priority, option::of(text()), option::of(expression()), body()).prop_map(
            |(priority, name, guard, body)| RuleKind::Simple { priority, name, guard, body }
        ),
        property().prop_map(RuleKind::Property),
    ];
    simple
        .prop_map(|kind| Rule { kind, span: SPAN })
        .prop_recursive(3, 6, 2, |inner| {
            let rules = vec(inner, 0..3);
            prop_oneof![
                (quantifiers_around(expression()), rules.clone())
                    .prop_map(|(quantifiers, rules)| RuleKind::Ruleset { quantifiers, rules }),
                (aliases(), rules.clone())
                    .prop_map(|(aliases, rules)| RuleKind::Alias { aliases, rules }),
                (name(), designator(), rules)
                    .prop_map(|(name, multiset, rules)| RuleKind::Choose { name, multiset, rules }),
            ]
            .prop_map(|kind| Rule { kind, span: SPAN })
        })
        .boxed()
}

fn program() -> impl Strategy<Value = Program> {
    let item = prop_oneof![
        declaration().prop_map(Item::Declaration),
        function().prop_map(Item::Function),
        rule().prop_map(Item::Rule),
    ];
    vec(item, 0..4).prop_map(|items| Program { items })
}

/// Whatever the text: no panic, and problems that can be shown.
fn survives(text: &str) {
    let source = source(text);
    let (program, problems) = parse(&source);
    for problem in &problems {
        assert!(!problem.render(&source, true).is_empty());
        assert!(problem.span.start <= problem.span.end);
        assert!(problem.span.end as usize <= text.len());
    }
    match program {
        None => assert!(!problems.is_empty()),
        Some(program) => {
            let printed = print(&program);
            let again = parse(&self::source(&printed)).0.expect("what is printed can be read");
            assert_eq!(shape(&again), shape(&program), "{printed}");
        }
    }
}

const TOKENS: &[&str] = &[
    "alias",
    "array",
    "assert",
    "assume",
    "begin",
    "boolean",
    "by",
    "case",
    "choose",
    "clear",
    "const",
    "cover",
    "do",
    "else",
    "elsif",
    "end",
    "endalias",
    "endchoose",
    "endexists",
    "endfor",
    "endforall",
    "endfunction",
    "endif",
    "endprocedure",
    "endrecord",
    "endrule",
    "endruleset",
    "endstartstate",
    "endswitch",
    "endwhile",
    "enum",
    "error",
    "exists",
    "externfun",
    "externproc",
    "for",
    "forall",
    "function",
    "if",
    "invariant",
    "ismember",
    "isundefined",
    "liveness",
    "multiset",
    "multisetadd",
    "multisetcount",
    "multisetremove",
    "multisetremovepred",
    "of",
    "pctl",
    "procedure",
    "put",
    "real",
    "record",
    "return",
    "rule",
    "ruleset",
    "scalarset",
    "startstate",
    "switch",
    "then",
    "to",
    "traceuntil",
    "type",
    "undefine",
    "undefined",
    "union",
    "var",
    "while",
    "x",
    "y",
    "T",
    "0",
    "1",
    "1.5",
    "\"s\"",
    "\"",
    "==>",
    "->",
    ":=",
    "..",
    "!=",
    "<=",
    ">=",
    "==",
    "&&",
    "||",
    "<<",
    ">>",
    "=",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "%",
    "!",
    "~",
    "&",
    "|",
    "^",
    "?",
    ":",
    ";",
    ",",
    ".",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "∀",
    "∃",
    "≔",
    "“",
    "”",
    "--",
    "/*",
    "*/",
    "\n",
    "é",
    "€",
    "'",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn what_is_printed_is_read_as_the_same_tree(program in program()) {
        let text = print(&program);
        let source = source(&text);
        let (again, problems) = parse(&source);
        let problems: String =
            problems.iter().map(|problem| problem.render(&source, false)).collect();
        prop_assert_eq!(problems, "", "{}", text);
        let again = again.expect("there are no problems");
        prop_assert_eq!(shape(&again), shape(&program), "{}", text);
        prop_assert_eq!(print(&again), text);
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        survives(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_tokens_are_read_or_refused(tokens in vec(select(TOKENS), 0..120)) {
        survives(&tokens.join(" "));
    }

    #[test]
    fn a_program_with_a_token_changed_is_read_or_refused(
        program in program(),
        at in any::<proptest::sample::Index>(),
        token in option::of(select(TOKENS)),
        removed in 0..3usize,
    ) {
        let text = print(&program);
        let mut words: Vec<&str> = text.split_inclusive(' ').collect();
        if words.is_empty() {
            return Ok(());
        }
        let at = at.index(words.len());
        let end = words.len().min(at + removed);
        words.splice(at..end, token);
        survives(&words.join(" "));
    }
}
