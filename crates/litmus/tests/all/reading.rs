//! What is printed is read back the same, and no text makes the reader panic.

use diagnostics::source::Source;
use proptest::prelude::*;
use tribunal_litmus::parse;

/// A cell of a table in AT&T order.
fn cell() -> impl Strategy<Value = String> {
    let register = prop::sample::select(vec!["eax", "ebx", "ecx", "edx", "esi", "edi", "r8d"]);
    let location = prop::sample::select(vec!["(x)", "(y)", "4(%rax)", "(%rbx,%rcx,8)", "8(z)"]);
    let number = prop_oneof![Just("$0"), Just("$1"), Just("$-1"), Just("$0x7fffffff"), Just("$x")];
    let arithmetic = prop::sample::select(vec![
        "add", "subl", "and", "orl", "xor", "cmp", "testl", "mov", "movl",
    ]);
    let alone = prop::sample::select(vec![
        "mfence",
        "sfence",
        "lfence",
        "nop",
        "ret",
        "je L",
        "jne L",
        "jmp L",
        "jle L",
        "js L",
        "",
        "lock incl (x)",
        "decl (y)",
        "lock notl (y)",
        "negl %eax",
        "shll $2,%eax",
        "movb %al,(x)",
        "movw $1,(y)",
        "movq %rax,%rbx",
        "pause",
        "lock subl %eax,(x)",
        "lock; addl $1,(x)",
    ]);
    let swap = prop::sample::select(vec!["xchg", "xchgl", "xadd", "lock xaddl", "lock cmpxchgl"]);
    prop_oneof![
        (arithmetic.clone(), number.clone(), register.clone())
            .prop_map(|(operation, number, register)| format!("{operation} {number},%{register}")),
        (arithmetic.clone(), register.clone(), location.clone())
            .prop_map(|(operation, register, at)| format!("{operation} %{register},{at}")),
        (arithmetic, location.clone(), register.clone())
            .prop_map(|(operation, at, register)| format!("{operation} {at},%{register}")),
        (number, location.clone()).prop_map(|(number, at)| format!("movl {number},{at}")),
        (swap, location, register)
            .prop_map(|(swap, at, register)| format!("{swap} {at},%{register}")),
        alone.prop_map(str::to_owned),
    ]
}

fn proposition() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "0:rax=1",
        "1:edx=-1",
        "x=2",
        "[y]=1",
        "0:rcx=x",
        "x!=3",
        "0:rax=1:rbx",
        "x=[y]",
        "true",
        "false",
    ]);
    atom.prop_map(str::to_owned).prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|p| format!("not {p}")),
            inner.clone().prop_map(|p| format!("({p})")),
            (inner.clone(), inner.clone()).prop_map(|(p, q)| format!("{p} /\\ {q}")),
            (inner.clone(), inner.clone()).prop_map(|(p, q)| format!("{p} \\/ {q}")),
            (inner.clone(), inner).prop_map(|(p, q)| format!("{p} => {q}")),
        ]
    })
}

fn test() -> impl Strategy<Value = String> {
    let init = prop::sample::select(vec![
        "x=0; y=0;",
        "x=1; int y; 0:rax=x;",
        "int64_t x=-1; uint8_t 1:rbx=2; y=0; [z]=5",
        "int *x=&y; *1:rcx=x;",
    ]);
    let rows = prop::collection::vec((cell(), cell()), 0..6);
    let quantifier = prop::sample::select(vec!["exists", "~exists", "not exists", "forall"]);
    let tail = prop::sample::select(vec!["", "locations [x; 0:rax;]", "locations [] filter x=0"]);
    (init, rows, quantifier, tail, proposition()).prop_map(|(init, rows, quantifier, tail, p)| {
        let rows: String = rows.iter().map(|(a, b)| format!(" {a} | {b} ;\n")).collect();
        format!(
            "X86_64 T (* of (* a *) test *)\n\"about it\"\nCycle=A B\n{{ {init} }}\n P0 | P1 ;\n\
             {rows} L: | L: nop ;\n{tail}\n{quantifier} ({p})"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_printed_is_read_back(text in test()) {
        let test = parse(&text).map_err(|problem| {
            let source = Source { name: "t".to_owned(), text: text.clone() };
            TestCaseError::fail(problem.render(&source, false))
        })?;
        let printed = test.to_text();
        let again = parse(&printed).map_err(|problem| {
            let source = Source { name: "printed".to_owned(), text: printed.clone() };
            TestCaseError::fail(problem.render(&source, false))
        })?;
        prop_assert_eq!(&again, &test);
        prop_assert_eq!(again.to_text(), printed);
    }

    #[test]
    fn a_damaged_test_is_read_or_refused(text in test(), at in any::<prop::sample::Index>(), with in ".{0,3}") {
        let at = at.index(text.len());
        let damaged = format!("{}{with}{}", &text[..at], &text[(at + 1).min(text.len())..]);
        if let Err(problem) = parse(&damaged) {
            let source = Source { name: "t".to_owned(), text: damaged };
            prop_assert!(problem.span.start <= problem.span.end);
            prop_assert!(problem.span.end as usize <= source.text.len());
            prop_assert!(problem.render(&source, false).starts_with("error: "));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(X86|X86_64|C)? ?\\PC*") {
        let _ = parse(&text);
    }
}

#[test]
fn precedence_is_that_of_herd7() {
    let parsed = |condition: &str| {
        let text = format!("X86_64 T\n{{ x=0; }}\n P0 ;\n nop ;\nexists ({condition})");
        let test = parse(&text).unwrap();
        test.condition.proposition.spelled(&test)
    };
    // not > => > /\ > \/, and => to the right.
    assert_eq!(
        parsed(r"not x=1 => x=2 /\ x=3 \/ x=4"),
        r"((not [x]=1 => [x]=2) /\ [x]=3 \/ [x]=4)"
    );
    assert_eq!(parsed(r"x=1 => x=2 => x=3"), "([x]=1 => ([x]=2 => [x]=3))");
    assert_eq!(parsed(r"x=1 \/ x=2 /\ x=3"), r"([x]=1 \/ [x]=2 /\ [x]=3)");
    assert_eq!(parsed(r"(x=1 \/ x=2) /\ x=3"), r"(([x]=1 \/ [x]=2) /\ [x]=3)");
}

#[test]
fn depth_and_length_are_no_matter_of_the_stack() {
    let deep = 100_000;
    let text = format!(
        "X86_64 T\n{{ x=0; }}\n P0 ;\n nop ;\nexists ({}x=1{} {})",
        "(".repeat(deep),
        ")".repeat(deep),
        "/\\ x=1 ".repeat(deep)
    );
    let test = parse(&text).unwrap();
    assert_eq!(parse(&test.to_text()).unwrap(), test);
    let comments = format!(
        "X86_64 T\n{}{}\n{{ x=0; }}\n P0 ;\nexists x=0",
        "(*".repeat(deep),
        "*)".repeat(deep)
    );
    assert!(parse(&comments).is_ok());
}

/// The message for a text with something wrong in it.
fn message(text: &str) -> String {
    let source = Source { name: "t.litmus".to_owned(), text: text.to_owned() };
    parse(text).unwrap_err().render(&source, false)
}

#[test]
fn an_error_points_at_its_place_and_says_what_was_expected() {
    let text = "X86_64 SB\n{ }\n P0          | P1 ;\n movl $1,(x) | bswap %eax ;\nexists (x=1)\n";
    assert_eq!(
        message(text),
        "\
error: the instruction `bswap` is not supported
 --> t.litmus:4:16
  |
4 |  movl $1,(x) | bswap %eax ;
  |                ^^^^^
  = help: supported: mov, xchg, xadd, cmpxchg, add, sub, and, or, xor, inc, dec, neg, not, shl, \
         shr, sar, cmp, test, jumps, mfence, sfence, lfence, nop and ret
"
    );
    let said = |text: &str, sentence: &str| {
        let message = message(text);
        assert!(message.contains(sentence), "{message}");
    };
    said("PPC MP\n{ }", "tests for PPC are not supported");
    said("hello", "not a litmus test");
    said("RISCV T\n{ }\n P0 ;\n lb.w x5,0(x6) ;\n", "`lb.w` is not supported");
    said("RISCV T\n{ }\n P0 ;\n lw x5,0(x32) ;\n", "unknown register `x32`");
    said("RISCV T\n{ }\n P0 ;\n div x5,x6,x7 ;\n", "the instruction `div` is not supported");
    said("AArch64 T\n{ }\n P0 ;\n LDXP W0,W2,[X1] ;\n", "`LDXP` is not supported");
    said("AArch64 T\n{ }\n P0 ;\n STRB X0,[X1] ;\n", "takes a 32-bit register");
    said("AArch64 T\n{ }\n P0 ;\n LDR W0,[W1] ;\n", "an address has 64 bits");
    said("AArch64 T\n{ }\n P0 ;\n ADD X0,X1,W2 ;\n", "`SXTW` extends a register");
    said("AArch64 T\n{ }\n P0 ;\n DMB XY ;\n", "`XY` is not a kind of barrier");
    said("AArch64 T\n{ }\n P0 ;\n CCMP X0,X1,#0,EQ ;\n", "`CCMP` is not supported");
    said("", "the file is empty");
    said("X86 T\n{ x=1 y=2 }", "expected `;` or `}` after an initial value");
    said("X86 T\n{ }\n P0 | P1 ;\n MFENCE ;\n", "this row has 1 of 2 cells");
    said("X86 T\n{ }\n P0 ;\n MOV RAX,[x] ;\n", "X86 has no register `RAX`");
    said("X86 T\n{ }\n P0 ;\n MOV $1,[x] ;\n", "a constant cannot be the destination");
    said("X86_64 T\n{ }\n P0 ;\n je L ;\n", "thread 0 has no label `L`");
    said("X86_64 T\n{ }\n P0 ;\n movl (x),(y) ;\n", "an instruction cannot access memory twice");
    said(
        "X86_64 T\n{ }\n P0 ;\n movl (x),%rax ;\n",
        "an operand of 64 bits in an instruction of 32",
    );
    said("X86_64 T\n{ x=0; }\n P0 ;\n nop ;\nexists (x=1 /\\ )", "expected a place");
    said("X86_64 T\n{ x=0; }\n P0 ;\n nop ;\nexists (x=1", "this parenthesis is not closed");
    said("X86_64 T\n{ }\n P0 ;\n nop ;\nexists 7:rax=1", "the test has no thread 7");
    said("X86_64 T\n{ t[2]; }\n", "an array needs the type of its elements");
    said("X86_64 T\n(* (* *)", "this comment is not closed");
    said("X86_64 T\n{ }\n P0 ;\n lock movl $1,(x) ;\n", "this instruction cannot be locked");
}

#[test]
fn a_condition_speaks_of_locations_that_there_are_and_of_whole_registers() {
    let test = |condition: &str| {
        format!("X86_64 T\n{{ }}\n P0 ;\n movq (x),%rax ;\n movl (y),%ebx ;\n{condition}\n")
    };
    for right in ["exists (0:rax=1 /\\ x=1 /\\ 0:ebx=1 /\\ 0:rbx=1)", "locations [y;]"] {
        assert!(parse(&test(right)).is_ok(), "{}", message(&test(right)));
    }
    for wrong in ["exists (z=1)", "exists (0:rax=z)", "locations [z;]", "filter [z]=1 exists x=1"] {
        let message = message(&test(wrong));
        assert!(message.contains("the test has no location `z`"), "{message}");
        assert!(message.contains("the locations of this test are x, y"), "{message}");
    }
    let said = message(&test("exists (0:eax=1)"));
    assert!(
        said.contains("the condition is about 32 bits of a register that the thread uses as 64"),
        "{said}"
    );
    assert!(said.contains("write `0:rax`"), "{said}");
    assert!(message(&test("exists (0:bl=1)")).contains("the condition is about 8 bits"));
}

#[test]
fn old_remarks_and_expectations_of_models_are_passed_over() {
    let plain = "X86 T\n{ }\n P0 ;\n MOV [x],$1 ;\nexists (x=1)\n";
    let with = plain.replace("(x=1)", "(x=1) with tso: ~exists; sc: forall;");
    let remark = format!("{plain}<<\nwritten in | 2009; by hand >>\n");
    assert_eq!(parse(&with), parse(plain));
    assert_eq!(parse(&remark), parse(plain));
    assert!(parse(&plain.replace("(x=1)", "(x=1) with tso")).is_err());
}

#[test]
fn what_every_architecture_can_say_is_printed_and_read_back() {
    let riscv = "RISCV all
{ 0:x10=x; }
 P0 ;
 lw x5,0(x10) ; lwu x5,0(x10) ; lw.aq x5,0(a0) ; ld t0,0(x10) ; sw x5,0(x10) ; sw.rl zero,0(x10) ;
 lr.w.aq.rl x5,0(x10) ; sc.d.rl x0,x5,0(x10) ; amoswap.w.aqrl x5,x6,(x10) ; amominu.d x5,x6,(x10) ;
 L: ; fence rw,w ; fence.tso ; fence.i ; li x5,-1 ; la x6,x ; mv x7,x6 ; add x5,x6,x7 ;
 addi x5,x6,-3 ; sltiu x5,x6,1 ; sltu x5,x6,x7 ; sub x5,x6,x7 ; beq x5,x0,L ; bnez x5,L ; j L ;
 bgeu x5,x6,L ; nop ;
exists (0:x5=-1)";
    let arm = "AArch64 all
{ 0:X10=x; }
 P0 ;
 LDR W0,[X10] ; LDR X0,[X10,#0] ; LDAR W0,[X10] ; LDAPR W0,[X10] ; LDXR X0,[X10] ; LDAXR W0,[X10] ;
 STR WZR,[X10,W1,SXTW] ; STR X0,[X10,X1] ; STLR W0,[X10] ; STXR W1,W0,[X10] ; STLXR W1,X0,[X10] ;
 SWPAL W0,W1,[X10] ; CASA X0,X1,[X10] ; LDADDL W0,W1,[X10] ; STCLR W0,[X10] ; LDSMAX W0,W1,[X10] ;
 L: ; DMB ISH ; DMB LD ; DMB OSHST ; DSB SY ; DSB ST ; ISB ; MOV W0,#-1 ; MOV X0,X1 ;
 ADD X0,X1,W2,SXTW ; EOR W0,W1,W2 ; SUB W0,W1,#3 ; LSL X0,X1,#2 ; CMP W0,#1 ; B.NE L ; BEQ L ;
 CBZ X0,L ; CBNZ W0,L ; B L ; NOP ;
exists (0:X0=-1)";
    for text in [riscv, arm] {
        let test = parse(text).unwrap_or_else(|problem| panic!("{}", problem.message));
        assert!(test.threads[0].risc().len() > 25);
        assert_eq!(parse(&test.to_text()), Ok(test));
    }
}
