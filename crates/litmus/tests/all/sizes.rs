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
