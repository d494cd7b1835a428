//! Tests whose accesses are of parts of a location.

use tribunal_litmus::{Limits, LitmusModel, outcomes_of, parse};

/// Whether some execution of the test satisfies its condition.
fn is_allowed(model: &str, test: &str) -> bool {
    let model = LitmusModel::named(model).unwrap();
    let test = parse(test).unwrap();
    let found = outcomes_of(&test, &model, &Limits::NONE).unwrap();
    found.count_where(&test.condition.proposition) > 0
}

/// A load of a whole location, and behind it one of its lower half.
fn younger_half(half: u64) -> String {
    format!(
        "AArch64 younger-half\n\
         {{ uint64_t x; uint64_t 1:X0; uint64_t 1:X2;\n\
            0:X1=x; 1:X1=x; 0:X0=0x0101010101010101; }}\n\
          P0          | P1          ;\n\
          STR X0,[X1] | LDR X0,[X1] ;\n\
                      | LDR W2,[X1] ;\n\
         exists (1:X0=0x0101010101010101 /\\ 1:X2={half})\n"
    )
}

#[test]
fn a_younger_half_does_not_see_an_older_value_than_the_older_whole() {
    assert!(is_allowed("aarch64-2020", &younger_half(0x0101_0101)));
    assert!(!is_allowed("aarch64-2020", &younger_half(0)));
}

/// Two stores of halves, and a load of both.
fn halves(value: &str) -> String {
    format!(
        "RISCV halves\n\
         {{ uint64_t x=0; uint64_t 1:x5=0; 0:x6=x; 1:x6=x; 0:x5=1; 0:x7=2; }}\n\
          P0           | P1          ;\n\
          sw x5,0(x6)  | ld x5,0(x6) ;\n\
          fence w,w    |             ;\n\
          sw x7,4(x6)  |             ;\n\
         exists (1:x5={value})\n"
    )
}

#[test]
fn a_load_takes_each_half_from_its_own_store() {
    for (value, allowed) in [
        ("0x0000000000000000", true),
        ("0x0000000000000001", true),
        ("0x0000000200000001", true),
        // The upper half is stored behind the lower one.
        ("0x0000000200000000", false),
    ] {
        assert_eq!(is_allowed("rvwmo", &halves(value)), allowed, "{value}");
    }
}

/// A byte of a word, stored and read, for each way to store and read it.
#[test]
fn bytes_and_halfwords_are_parts_of_a_word() {
    for (load, value) in [("lb", "0xffffffffffffff80"), ("lbu", "0x80"), ("lhu", "0x8000")] {
        let test = |value: &str| {
            let at = if load == "lhu" { 0 } else { 1 };
            format!(
                "RISCV bytes\n{{ uint32_t x=0; uint64_t 1:x5=0; 0:x6=x; 1:x6=x; 0:x5=0x180; }}\n \
                 P0 | P1 ;\n sb x5,1(x6) | {load} x5,{at}(x6) ;\nexists (1:x5={value})\n"
            )
        };
        assert!(is_allowed("rvwmo", &test(value)), "{load}");
        assert!(is_allowed("rvwmo", &test("0")), "{load}");
        assert!(!is_allowed("rvwmo", &test("0x180")), "{load}");
    }
    for (code, value) in [
        ("STRB W0,[X1,#1] | LDRH W0,[X1]", "0x2200"),
        ("STRH W0,[X1,#2] | LDR W0,[X1]", "0x11220000"),
        ("SWPB W0,W2,[X1] | LDR W0,[X1]", "0x22"),
        ("LDADDH W0,W2,[X1] | LDRB W0,[X1,#1]", "0x11"),
        ("STLRB W0,[X1] | LDARB W0,[X1]", "0x22"),
    ] {
        let test = |value: &str| {
            format!(
                "AArch64 bytes\n{{ uint32_t x=0; uint32_t 1:X0=0; 0:X1=x; 1:X1=x; 0:X0=0x1122; \
                 }}\n P0 | P1 ;\n {code} ;\nexists (1:X0={value})\n"
            )
        };
        assert!(is_allowed("aarch64-2020", &test(value)), "{code}");
        assert!(is_allowed("aarch64-2020", &test("0")), "{code}");
        assert!(!is_allowed("aarch64-2020", &test("0x1100")), "{code}");
    }
}

/// What is written out is read back as the same instructions.
#[test]
fn narrow_instructions_are_written_as_they_are_read() {
    let text = "AArch64 T\n{ 0:X1=x; }\n P0 ;\n LDRB W0,[X1] ;\n STLRH W0,[X1] ;\n \
                LDXRB W2,[X1] ;\n STXRB W3,W0,[X1] ;\n CASALH W0,W2,[X1] ;\n \
                LDADDAB W0,W2,[X1] ;\nexists (x=0)\n";
    let riscv = "RISCV T\n{ 0:x6=x; }\n P0 ;\n lb x5,1(x6) ;\n lhu x5,2(x6) ;\n \
                 sb x5,3(x6) ;\n sh x5,0(x6) ;\nexists (x=0)\n";
    for text in [text, riscv] {
        let test = parse(text).unwrap();
        let again = parse(&test.to_text()).unwrap();
        assert_eq!(test.threads, again.threads, "{text}");
    }
}
