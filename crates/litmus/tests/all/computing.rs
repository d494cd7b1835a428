//! What instructions compute, what a state shows of it, and what loops and arrays do, in tests of one
//! thread whose outcome follows from the manual of the architecture.

use tribunal_litmus::{Answer, Limits, Litmus, LitmusModel, parse};

/// The states of a test under the model of its architecture.
fn states(test: &Litmus) -> Vec<String> {
    let model = LitmusModel::of_architecture(test.architecture);
    let found = tribunal_litmus::outcomes_of(test, &model, &Limits::NONE).unwrap();
    let mut states = Vec::new();
    found.each(|state| {
        states.push(found.spelled(state));
        true
    });
    states
}

fn read(text: &str) -> Litmus {
    let test = parse(text).unwrap_or_else(|problem| panic!("{}\n{text}", problem.message));
    // What is several instructions here is written as such, and means the same.
    let again = parse(&test.to_text()).unwrap_or_else(|problem| panic!("{}", problem.message));
    assert_eq!(again, test, "{}", test.to_text());
    test
}

/// What a register holds at the end, as 64 bits.
fn computed(architecture: &str, initial: &str, code: &str, register: &str) -> String {
    let rows: String = code.split(';').map(|row| format!(" {row} ;\n")).collect();
    let test = read(&format!(
        "{architecture} T\n{{ {initial} int64_t 0:{register}; }}\n P0 ;\n{rows}locations [0:{register};]"
    ));
    let states = states(&test);
    assert_eq!(states.len(), 1, "{code}: {states:?}");
    states[0].trim_start_matches(&format!("0:{register}=")).trim_end_matches(';').to_owned()
}

#[test]
fn instructions_of_aarch64_compute_what_the_manual_says() {
    let initial = "0:X1=12; 0:X2=10; 0:X3=-1; 0:X4=0x123456789abcdef0; uint64_t 0:X4;";
    let rows = [
        ("MUL X0,X1,X2", 120),
        ("BIC X0,X1,X2", 4),
        ("BIC X0,X1,#4", 8),
        ("ORN X0,X1,X2", -3),
        ("EON X0,X1,X2", -7),
        ("MVN X0,X1", -13),
        ("MVN W0,W1", 0xffff_fff3),
        ("NEG X0,X1", -12),
        ("NEG X0,X1,LSL #2", -48),
        ("NEG W0,W1", 0xffff_fff4),
        ("ADD X0,X1,X2,LSL #3", 92),
        ("ADD X0,X1,#1,LSL #12", 4108),
        ("SUB X0,X1,X2,ASR #1", 7),
        ("ADD X0,X1,W3,SXTW #1", 10),
        ("ADD X0,X1,W3,UXTW", 12 + 0xffff_ffff),
        ("AND W0,W3,W3,LSR #4", 0x0fff_ffff),
        ("ORR W0,WZR,W3,ASR #4", 0xffff_ffff),
        ("MOVZ X0,#5,LSL #32", 5 << 32),
        ("MOVN X0,#5", -6),
        ("MOVN W0,#5", 0xffff_fffa),
        ("MOV X0,#-1; MOVK X0,#5,LSL #16", 0xffff_ffff_0005_ffff_u64 as i64),
        ("MOV W0,#-1; MOVK W0,#5", 0xffff_0005),
        ("UXTB X0,W4", 0xf0),
        ("UXTH W0,W4", 0xdef0),
        ("SXTB X0,W4", -16),
        ("SXTH W0,W4", 0xffff_def0),
        ("SXTW X0,W4", 0xffff_ffff_9abc_def0_u64 as i64),
        ("UBFX X0,X4,#8,#12", 0xcde),
        ("SBFX X0,X4,#8,#12", 0xffff_ffff_ffff_fcde_u64 as i64),
        ("UBFM X0,X4,#8,#19", 0xcde),
        ("UBFM X0,X4,#60,#3", 0),
        ("UBFM X0,X1,#60,#3", 12 << 4),
        // Flags: ADDS carries, SUBS borrows, ANDS clears both.
        ("ADDS X5,X3,X1; MOV X0,#1; B.CS L; MOV X0,#2; L:", 1),
        ("ADDS X5,X3,X1; MOV X0,#1; B.VS L; MOV X0,#2; L:", 2),
        ("ADDS W5,W3,#1; MOV X0,#1; B.EQ L; MOV X0,#2; L:", 1),
        ("SUBS X5,X2,X1; MOV X0,#1; B.MI L; MOV X0,#2; L:", 1),
        ("SUBS X5,X2,X1; MOV X0,#1; B.LO L; MOV X0,#2; L:", 1),
        ("CMP X1,X2; MOV X0,#1; B.PL L; MOV X0,#2; L:", 1),
        ("CMP X3,X1; MOV X0,#1; B.LT L; MOV X0,#2; L:", 1),
        ("CMP X3,X1; MOV X0,#1; B.HI L; MOV X0,#2; L:", 1),
        ("CMN X1,#-12; MOV X0,#1; B.EQ L; MOV X0,#2; L:", 1),
        ("TST X1,#3; MOV X0,#1; B.EQ L; MOV X0,#2; L:", 1),
        ("TST X3,X3; MOV X0,#1; B.CC L; MOV X0,#2; L:", 1),
        ("BICS X0,X1,X1; B.NE L; MOV X0,#3; L:", 3),
        ("MOVZ X6,#0x8000,LSL #48; SUBS X5,X6,#1; MOV X0,#1; B.VS L; MOV X0,#2; L:", 1),
        ("ADD X0,X1,W4,SXTB", -4),
        ("ADD X0,X1,W4,UXTB #2", 12 + (0xf0 << 2)),
        ("ADD X0,X1,W4,SXTH", 12 + (0xdef0 - 0x1_0000)),
        ("SUB W0,W1,W4,UXTH", 0xffff_211c),
        ("ORR X0,XZR,X4,ROR #8", 0xf012_3456_789a_bcde_u64 as i64),
        ("ORR W0,WZR,W4,ROR #8", 0xf09a_bcde),
        ("ROR X0,X4,#60", 0x2345_6789_abcd_ef01),
        ("ROR W0,W4,W1", 0xef09_abcd),
        ("MADD X0,X1,X2,X3", 119),
        ("MSUB X0,X1,X2,X3", -121),
        ("MOV X0,#5; MADD X0,X0,X1,X0", 65),
        ("MADD W0,W1,W2,W3", 119),
        ("MNEG W0,W1,W2", 0xffff_ff88),
        ("MNEG X0,X1,X2", -120),
        ("SMULL X0,W3,W1", -12),
        ("UMULL X0,W3,W1", 0xffff_ffff * 12),
        ("SMNEGL X0,W3,W1", 12),
        ("UMNEGL X0,W3,W1", -0xffff_ffff * 12),
        ("SMADDL X0,W3,W1,X2", -2),
        ("UMSUBL X0,W3,W1,X2", 10 - 0xffff_ffff * 12),
        ("SMULL X0,WZR,W1", 0),
        ("REV X0,X4", 0xf0de_bc9a_7856_3412_u64 as i64),
        ("REV W0,W4", 0xf0de_bc9a),
        ("REV16 X0,X4", 0x3412_7856_bc9a_f0de),
        ("REV16 W0,W4", 0xbc9a_f0de),
        ("REV32 X0,X4", 0x7856_3412_f0de_bc9a),
        ("REV64 X0,X4", 0xf0de_bc9a_7856_3412_u64 as i64),
        ("RBIT X0,X1", 3 << 60),
        ("RBIT W0,W1", 3 << 28),
        ("CLZ X0,X1", 60),
        ("CLZ W0,W1", 28),
        ("CLZ X0,XZR", 64),
        ("CLZ W0,WZR", 32),
        ("CLS X0,X3", 63),
        ("CLS W0,W3", 31),
        ("CLS W0,W1", 27),
        ("CLS W0,W4", 0),
        ("ABS X0,X3", 1),
        ("ABS W0,W3", 1),
        ("ABS X0,X1", 12),
        ("MOVZ X5,#0x8000,LSL #48; ABS X0,X5", i64::MIN),
        ("SBFM X0,X4,#8,#19", 0xffff_ffff_ffff_fcde_u64 as i64),
        ("SBFM X0,X4,#60,#7", -256),
        ("SBFM W0,W4,#28,#7", 0xffff_ff00),
        ("UBFIZ X0,X4,#4,#8", 0xf00),
        ("SBFIZ X0,X4,#4,#8", -256),
        ("CMP X1,X2; CSEL X0,X1,X2,GT", 12),
        ("CMP X1,X2; CSEL X0,X1,X2,LT", 10),
        ("CMP X1,X2; CSINC X0,X1,X2,EQ", 11),
        ("CMP X1,X2; CSINC X0,X1,X2,NE", 12),
        ("CMP X1,X2; CSINV X0,X1,X2,EQ", -11),
        ("CMP X1,X2; CSNEG X0,X1,X2,LO", -10),
        ("CMP X1,X2; CSINV W0,W1,W2,EQ", 0xffff_fff5),
        ("CMP X1,X2; CSET X0,HI", 1),
        ("CMP X1,X2; CSET X0,LS", 0),
        ("CMP X1,X2; CSETM X0,GE", -1),
        ("CMP X1,X2; CSETM W0,GE", 0xffff_ffff),
        ("CMP X1,X2; CSETM X0,MI", 0),
        ("CMP X1,X2; CINC X0,X1,NE", 13),
        ("CMP X1,X2; CINC X0,X1,EQ", 12),
        ("CMP X1,X2; CINV X0,X1,CS", -13),
        ("CMP X1,X2; CNEG X0,X1,PL", -12),
        ("CMP X1,X2; CNEG X0,X1,VS", 12),
        ("TBZ X1,#0,L; MOV X0,#2; L:", 0),
        ("TBNZ X1,#2,L; MOV X0,#2; L:", 0),
        ("TBNZ X1,#1,L; MOV X0,#2; L:", 2),
        ("TBNZ X3,#63,L; MOV X0,#2; L:", 0),
        ("MOV X0,X1; B.AL L; MOV X0,#2; L:", 12),
    ];
    for (code, wanted) in rows {
        assert_eq!(computed("AArch64", initial, code, "X0"), wanted.to_string(), "{code}");
    }
}

#[test]
fn instructions_of_riscv_compute_what_the_manual_says() {
    let initial = "0:x5=12; 0:x6=10; 0:x7=-1; uint64_t 0:x8=0x123456789abcdef0;";
    let rows = [
        ("mul x10,x5,x6", 120),
        ("andn x10,x5,x6", 4),
        ("orn x10,x5,x6", -3),
        ("xnor x10,x5,x6", -7),
        ("addw x10,x8,x0", 0xffff_ffff_9abc_def0_u64 as i64),
        ("addiw x10,x8,16", 0xffff_ffff_9abc_df00_u64 as i64),
        ("sext.w x10,x8", 0xffff_ffff_9abc_def0_u64 as i64),
        ("subw x10,x0,x5", -12),
        ("mulw x10,x7,x5", -12),
        ("sllw x10,x5,x6", 12 << 10),
        ("srlw x10,x7,x5", 0xf_ffff),
        ("srliw x10,x7,4", 0xfff_ffff),
        ("sraw x10,x8,x5", 0xffff_ffff_fff9_abcd_u64 as i64),
        ("slliw x10,x5,28", 0xffff_ffff_c000_0000_u64 as i64),
        ("neg x10,x5", -12),
        ("negw x10,x5", -12),
        ("not x10,x5", -13),
        ("seqz x10,x5", 0),
        ("seqz x10,x0", 1),
        ("snez x10,x5", 1),
        ("sltz x10,x7", 1),
        ("sgtz x10,x5", 1),
        ("lui x10,1", 4096),
        ("lui x10,0x80000", 0xffff_ffff_8000_0000_u64 as i64),
        ("li x10,1; bgt x5,x6,L; li x10,2; L:", 1),
        ("li x10,1; ble x5,x6,L; li x10,2; L:", 2),
        ("li x10,1; bgtu x7,x6,L; li x10,2; L:", 1),
        ("li x10,1; bleu x7,x6,L; li x10,2; L:", 2),
        ("li x10,1; bgtz x7,L; li x10,2; L:", 2),
        ("li x10,1; blez x7,L; li x10,2; L:", 1),
    ];
    for (code, wanted) in rows {
        assert_eq!(computed("RISCV", initial, code, "x10"), wanted.to_string(), "{code}");
    }
}

#[test]
fn accesses_of_aarch64_extend_go_in_pairs_and_move_their_address() {
    let initial = "uint64_t x=0x80ff; 0:X1=x; int64_t y[3]={1,2,3}; 0:X2=y; 0:X3=7; 0:X4=8;";
    let rows = [
        ("LDRSB X0,[X1]", -1),
        ("LDRSB W0,[X1]", 0xffff_ffff),
        ("LDRSH X0,[X1]", 0xffff_ffff_ffff_80ff_u64 as i64),
        ("LDRSW X0,[X1]", 0x80ff),
        ("LDP X5,X0,[X2]", 2),
        ("LDP X5,X0,[X2,#8]", 3),
        ("LDP X2,X0,[X2]", 2),
        ("LDP X0,X2,[X2]", 1),
        ("LDR X5,[X2],#8; LDR X0,[X2]", 2),
        ("LDR X0,[X2],#8", 1),
        ("LDR X0,[X2,#16]!", 3),
        ("LDP X5,X6,[X2],#8; LDR X0,[X2]", 2),
        ("STP X3,X4,[X2,#8]; LDR X0,[X2,#16]", 8),
        ("STR X3,[X2],#8; LDR X0,[X2,#-8]!", 7),
        ("MOV X5,#1; LDR X0,[X2,X5,LSL #3]", 2),
        ("MOV W5,#-8; ADD X2,X2,#8; LDR X0,[X2,W5,SXTW]", 1),
        ("MOV W5,#2; LDR X0,[X2,W5,UXTW #3]", 3),
        ("LDAPUR X0,[X2,#8]", 2),
    ];
    for (code, wanted) in rows {
        assert_eq!(computed("AArch64", initial, code, "X0"), wanted.to_string(), "{code}");
    }
    for (wrong, said) in [
        ("LDR X2,[X2],#8", "the instruction changes is accessed, too"),
        ("STP X0,W1,[X2]", "32-bit and 64-bit registers"),
        ("LDRSW W0,[X2]", "takes a 64-bit register"),
        ("LDR X0,[X2,X1]!", "has a number as its offset"),
        ("UBFX X0,X1,#60,#8", "has no such field"),
        ("MOVZ X0,#0x10000", "takes a number of 16 bits"),
        ("TBZ W0,#32,L", "a shift is from 0 to 31 bits"),
        ("ADD X0,X1,X2,ROR #1", "`ROR` of an operand is not supported"),
    ] {
        let text = format!("AArch64 T\n{{ }}\n P0 ;\n {wrong} ;\n L: ;\nlocations [0:X0;]");
        let problem = parse(&text).unwrap_err();
        assert!(problem.message.contains(said), "{wrong}: {}", problem.message);
    }
}

#[test]
fn a_state_shows_as_much_of_a_value_as_its_type_has_room_for() {
    let test = read(
        "RISCV T
         { int x=0xffff; 0:x5=x; uint8_t 0:x8; }
         P0 ;
         lb x6,0(x5) ;
         lbu x7,0(x5) ;
         lb x8,0(x5) ;
         forall (0:x6=0xffffffff /\\ 0:x7=0xff /\\ 0:x8=-1)",
    );
    assert_eq!(states(&test), ["0:x6=-1; 0:x7=255; 0:x8=255;"]);
    let model = LitmusModel::named("rvwmo").unwrap();
    assert!(matches!(
        Answer::of(&test, model, &Limits::NONE).verdict(),
        evidence::Verdict::Holds(())
    ));
    let test = read(
        "AArch64 T
         { int8_t x=-1; 0:X2=x; int8_t 0:X1; 0:X4=x; }
         P0 ;
         LDRB W1,[X2] ;
         LDRB W3,[X2] ;
         ADD X4,X4,#4 ;
         MOV X5,X2 ;
         locations [0:X1;0:X3;0:X4;0:X5;]",
    );
    assert_eq!(states(&test), ["0:X1=-1; 0:X3=255; 0:X4=x+4; 0:X5=x;"]);
}

#[test]
fn elements_of_arrays_are_locations_behind_each_other() {
    let test = read(
        "AArch64 T
         { 0:X1=a; 1:X1=a; int64_t a[2]={1,x}; int a4[3]; x=5; 1:X2=a4; int *p=a; }
         P0 | P1 ;
         MOV X0,#3 | LDR X0,[X1,#8] ;
         STR X0,[X1,#8] | STR W0,[X2,#8] ;
         locations [a; a4[2]; 1:X0; p;]
         exists (a[1]=3 /\\ not (a4[2]=3) /\\ a!={1,2})",
    );
    let states = states(&test);
    assert_eq!(states, ["1:X0=3; a={1,3}; a4[2]=3; [p]=a;", "1:X0=x; a={1,3}; a4[2]=x; [p]=a;"]);
    // An access of several elements, and of one beside it.
    let test = read(
        "AArch64 T
         { uint32_t a[6]={1,2,3,4,5,6}; 0:X1=a; uint64_t 0:X0; uint8_t b[9]; 0:X2=b; uint64_t 0:X4; }
         P0 ;
         LDR X0,[X1,#8] ;
         MOV W3,#7 ;
         STR W3,[X1,#20] ;
         STRH W3,[X2,#2] ;
         LDR X4,[X2] ;
         locations [a; b[2]; b[3]; 0:X0; 0:X4;]",
    );
    let model = LitmusModel::named("aarch64-2020").unwrap();
    let found = tribunal_litmus::outcomes_of(&test, &model, &Limits::NONE).unwrap();
    let mut states = Vec::new();
    found.each(|state| {
        states.push(found.spelled(state));
        true
    });
    let (x0, x4) = (3_u64 | 4 << 32, 7_u64 << 16);
    let elements = "a={1,2,3,4,5,7}; b[2]=7; b[3]=0;";
    assert_eq!(states, [format!("0:X0={x0}; 0:X4={x4}; {elements}")]);
    // One beyond the end.
    let outside =
        parse("AArch64 T\n{ int a[3]; 0:X1=a; }\n P0 ;\n LDR X0,[X1,#8] ;\nlocations [a;]");
    let outside = outside.unwrap();
    let found = tribunal_litmus::outcomes_of(&outside, &model, &Limits::NONE);
    assert!(found.is_err_and(|why| why.to_string().contains("not the address of a location")));
    for (wrong, said) in [
        ("{ x[2]={1,2}; }", "an array needs the type of its elements"),
        ("{ int x[2]={1}; }", "1 values for the 2 elements of `x`"),
        ("{ int x[0]; }", "an array has 1 to"),
        ("{ int x[99999999]; }", "an array has 1 to"),
        ("{ int x[2]; int x[2]; }", "declared twice"),
        ("{ int x[2]; x=1; }", "`x` is an array"),
    ] {
        let text = format!("AArch64 T\n{wrong}\n P0 ;\n NOP ;\nexists (x[0]=1)");
        let problem = parse(&text).unwrap_err();
        assert!(problem.message.contains(said), "{wrong}: {}", problem.message);
    }
    for (wrong, said) in [
        ("exists (x=1)", "unexpected `1`"),
        ("exists (x={1,2,3})", "3 values for the 2 elements of `x`"),
        ("exists (0:X1=1:X1 /\\ x[0]=x)", "the test has no thread 1"),
        ("exists (true \\/ x)", "`x` is an array"),
        ("exists (x[2]=1)", "`x` has 2 elements"),
        ("exists (y[0]=1)", "`y` is no array"),
    ] {
        let text = format!("AArch64 T\n{{ int x[2]; y=0; }}\n P0 ;\n NOP ;\n{wrong}");
        let problem = parse(&text).unwrap_err();
        assert!(problem.message.contains(said), "{wrong}: {}", problem.message);
    }
}

#[test]
fn a_loop_that_counts_is_followed_to_its_end() {
    for back in ["CBNZ W0,L ; ", "CBZ W0,E ; B L ; E: ; "] {
        let rows: String = back.split_inclusive(';').map(|row| format!("{row}\n")).collect();
        let test = read(&format!(
            "AArch64 T\n{{ }}\nP0 ;\nMOV W0,#10 ;\nMOV W1,#0 ;\nL: ;\nADD W1,W1,#1 ;\n\
             SUB W0,W0,#1 ;\n{}\nforall (0:X1=10)",
            rows.trim_end().trim_end_matches("\n ;")
        ));
        assert_eq!(states(&test), ["0:X1=10;"]);
    }
}

#[test]
fn a_claim_about_runs_that_were_not_enumerated_is_undecided() {
    let spin = |condition: &str| {
        read(&format!(
            "AArch64 T
             {{ 0:X1=x; 1:X1=x; }}
             P0 | P1 ;
             MOV W0,#1 | L: ;
             STR W0,[X1] | LDR W0,[X1] ;
              | CBZ W0,L ;
             {condition}"
        ))
    };
    let answer = |test: &Litmus, file: &str| {
        let model = LitmusModel::named("aarch64").unwrap();
        let answer = Answer::of(test, model, &Limits::NONE);
        let mut text = Vec::new();
        answer.write(file, tribunal_litmus::Style::default(), &mut text).unwrap();
        (String::from_utf8(text).unwrap(), answer.unrolled().is_some())
    };
    let claim = spin("forall (1:X0=1)");
    let (text, unrolled) = answer(&claim, "t");
    assert!(unrolled && text.contains("\nLoop Ok\n"), "{text}");
    let model = LitmusModel::named("aarch64").unwrap();
    let verdict = Answer::of(&claim, model, &Limits::NONE);
    assert!(matches!(verdict.verdict(), evidence::Verdict::Undecided(_)));
    // What is refuted is refuted, and a question has no promise.
    for settled in ["forall (1:X0=0)", "~exists (1:X0=1)"] {
        let test = spin(settled);
        let model = LitmusModel::named("aarch64").unwrap();
        let answer = Answer::of(&test, model, &Limits::NONE);
        assert!(matches!(answer.verdict(), evidence::Verdict::Broken(())), "{settled}");
    }
    let test = spin("exists (1:X0=0)");
    let model = LitmusModel::named("aarch64").unwrap();
    let answer = Answer::of(&test, model, &Limits::NONE);
    assert!(matches!(answer.verdict(), evidence::Verdict::Holds(())));
}

/// Whether both threads of load buffering may read 1. Between its load, into register 0 (RISC-V: 5), and
/// its store, each thread does `between`; the address of the store depends on register 2 (7). A branch
/// goes to `L`, behind which the store stands.
fn reads_both(architecture: &str, between: &str) -> bool {
    let (register, read_into, load, store) = match architecture {
        "AArch64" => ("X", "X0", "LDR W0,[X1]", "EOR W2,W2,W2 ; MOV W4,#1 ; STR W4,[X3,W2,SXTW]"),
        _ => ("x", "x5", "lw x5,0(x1)", "xor x7,x7,x7 ; add x7,x7,x3 ; li x4,1 ; sw x4,0(x7)"),
    };
    let rows: String = format!("{load} ; {between} ; L: ; {store}")
        .split(" ; ")
        .map(|row| format!(" {row} | {row} ;\n"))
        .collect();
    let test = read(&format!(
        "{architecture} LB
         {{ 0:{register}1=x; 0:{register}3=y; 1:{register}1=y; 1:{register}3=x; }}
         P0 | P1 ;
         {rows} exists (0:{read_into}=1 /\\ 1:{read_into}=1)"
    ));
    let model = LitmusModel::of_architecture(test.architecture);
    let found = tribunal_litmus::outcomes_of(&test, &model, &Limits::NONE).unwrap();
    found.count_where(&test.condition.proposition) > 0
}

#[test]
fn whatever_computes_from_a_register_carries_its_dependencies() {
    for between in [
        "ADDS W2,W0,#1",
        "SUBS W2,W0,W0",
        "ANDS W2,W0,#0",
        "BIC W2,W0,W0",
        "BICS W2,WZR,W0",
        "ORN W2,WZR,W0",
        "EON W2,W0,W0",
        "MUL W2,W0,WZR",
        "MVN W2,W0",
        "NEG W2,W0",
        "SXTB W2,W0",
        "UXTH W2,W0",
        "SXTW X2,W0",
        "UBFX W2,W0,#1,#1",
        "SBFX W2,W0,#0,#1",
        "UBFM W2,W0,#31,#1",
        "MOV W2,W0 ; MOVK W2,#1",
        "ADD W2,WZR,W0,LSL #3",
        "ADD W2,WZR,W0,LSR #3",
        "SUB W2,WZR,W0,ASR #3",
        "ADD X2,XZR,W0,UXTW #2",
        // By control.
        "CBZ W0,L",
        "TBZ W0,#3,L",
        "TBNZ W0,#0,L",
        "TST W0,#4 ; B.EQ L",
        "CMN W0,#1 ; B.MI L",
        "SUBS WZR,W0,#1 ; B.VS L",
    ] {
        assert!(!reads_both("AArch64", between), "{between}");
    }
    for between in [
        "mul x7,x5,x0",
        "andn x7,x0,x5",
        "orn x7,x5,x0",
        "xnor x7,x5,x5",
        "addw x7,x5,x5",
        "addiw x7,x5,1",
        "srlw x7,x5,x5",
        "sext.w x7,x5",
        "negw x7,x5",
        "not x7,x5",
        "seqz x7,x5",
        "snez x7,x5",
        "bgt x5,x0,L",
        "bleu x0,x5,L",
        "bgtz x5,L",
        "blez x5,L",
    ] {
        assert!(!reads_both("RISCV", between), "{between}");
    }
    // What does not use the register carries nothing.
    for between in ["MOVZ W2,#1", "MOVN W2,#1", "TST W1,#1 ; B.EQ L", "TBZ X3,#1,L"] {
        assert!(reads_both("AArch64", between), "{between}");
    }
    for between in ["lui x7,1", "neg x7,x0", "bgtz x1,L"] {
        assert!(reads_both("RISCV", between), "{between}");
    }
}

#[test]
fn a_test_that_ends_anywhere_is_refused_or_read() {
    let text = "AArch64 T\n{ int a[2]={1,2}; 0:X1=a; int b[1]={3}; uint64_t 0:X2; }\n P0 ;\n LDP X0,X3,[X1],#8 ;\n \
                LDR X0,[X1,#-8]! ;\n LDRSW X4,[X1] ;\n ADDS X0,X1,X2,LSL #3 ;\n MOVK X0,#1,LSL #16 ;\n \
                UBFX X0,X1,#8,#4 ;\n L: ;\n TBZ X0,#1,L ;\nlocations [a; 0:X0;]\nforall (a={1,2} /\\ a[1]=2)";
    let read = (0..=text.len()).filter(|&end| parse(&text[..end]).is_ok()).count();
    assert!(parse(text).is_ok() && read < text.len() / 2);
    for end in
        ["int a[2]; int a[", "int a[2]; int a", "int a[2]; int a[2", "int a[2]={", "int a[2]={1,"]
    {
        assert!(parse(&format!("AArch64 T\n{{ {end}")).is_err());
    }
}
