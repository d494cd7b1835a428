//! Conditional selects of AArch64 and what they order: the manual has "pick dependencies" for what
//! decides which operand is taken, and a dependency of the usual kinds for the operand that is taken.

use tribunal_litmus::{Limits, LitmusModel, parse};

/// Whether the current model of Arm allows the state of the condition.
fn is_allowed(text: &str) -> bool {
    let test = parse(text).unwrap_or_else(|problem| panic!("{}\n{text}", problem.message));
    let model = LitmusModel::of_architecture(test.architecture);
    let found = tribunal_litmus::outcomes_of(&test, &model, &Limits::NONE).unwrap();
    let mut allowed = false;
    let condition = &test.condition.proposition;
    found.each(|state| {
        allowed |= found.holds(condition, state);
        !allowed
    });
    allowed
}

/// Message passing: thread 1 reads the flag y in W0, does what is given, and has read x in W2.
fn reads_stale_data(then: &str) -> bool {
    let rows: Vec<&str> = then.split(';').collect();
    let first = ["MOV W0,#1", "STR W0,[X1]", "DMB SY", "MOV W2,#1", "STR W2,[X3]"];
    let mut text =
        "AArch64 MP\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; 1:X5=z; }\n P0 | P1 ;\n".to_owned();
    for row in 0..first.len().max(rows.len() + 1) {
        let second = if row == 0 { "LDR W0,[X1]" } else { rows.get(row - 1).map_or("", |row| row) };
        text += &format!(" {} | {second} ;\n", first.get(row).map_or("", |row| row));
    }
    is_allowed(&(text + "exists (1:X0=1 /\\ 1:X2=0)"))
}

/// Load buffering: thread 0 reads x in W0, does what is given, and writes 1 to y.
fn reads_its_own_effect(then: &str) -> bool {
    let rows: Vec<&str> = then.split(';').collect();
    let second = ["LDR W0,[X1]", "DMB SY", "MOV W2,#1", "STR W2,[X3]"];
    let mut text =
        "AArch64 LB\n{ 0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x; 0:X5=z; }\n P0 | P1 ;\n".to_owned();
    for row in 0..second.len().max(rows.len() + 1) {
        let first = if row == 0 { "LDR W0,[X1]" } else { rows.get(row - 1).map_or("", |row| row) };
        text += &format!(" {first} | {} ;\n", second.get(row).map_or("", |row| row));
    }
    is_allowed(&(text + "exists (0:X0=1 /\\ 1:X0=1)"))
}

#[test]
fn what_is_selected_carries_a_dependency_and_what_decides_orders_no_read() {
    // The address is computed from the flag.
    assert!(!reads_stale_data("EOR W6,W0,W0; CMP WZR,#0; CSEL W7,W6,WZR,EQ; LDR W2,[X3,W7,SXTW]"));
    // It is not, since the other operand is taken.
    assert!(reads_stale_data("EOR W6,W0,W0; CMP WZR,#0; CSEL W7,WZR,W6,EQ; LDR W2,[X3,W7,SXTW]"));
    // It is decided by the flag; with a barrier behind it, that is an order.
    let decided = "CMP W0,#1; CSEL W7,WZR,WZR,EQ; LDR W2,[X3,W7,SXTW]";
    assert!(reads_stale_data(decided));
    let barrier = "CMP W0,#1; CSEL W7,WZR,WZR,EQ; LDR W8,[X5,W7,SXTW]; ISB; LDR W2,[X3]";
    assert!(!reads_stale_data(barrier));
    assert!(reads_stale_data("CMP W0,#1; CSET W7,EQ; ISB; LDR W2,[X3]"));
}

#[test]
fn what_decides_orders_writes() {
    assert!(reads_its_own_effect("CMP W0,#1; MOV W7,#1; STR W7,[X3]"));
    assert!(!reads_its_own_effect("CMP W0,#1; CSET W7,EQ; STR W7,[X3]"));
    assert!(!reads_its_own_effect("CMP W0,#1; CSINC W7,WZR,WZR,NE; STR W7,[X3]"));
    // The address of the write, or of an access before it.
    let at = "CMP W0,#1; CSEL W7,WZR,WZR,EQ; MOV W8,#1; STR W8,[X3,W7,SXTW]";
    assert!(!reads_its_own_effect(at));
    let behind = "CMP W0,#1; CSEL W7,WZR,WZR,EQ; LDR W9,[X5,W7,SXTW]; MOV W8,#1; STR W8,[X3]";
    assert!(!reads_its_own_effect(behind));
    // What is picked for one write does not order another.
    let other = "CMP W0,#1; CSET W7,EQ; STR W7,[X5]; MOV W8,#1; STR W8,[X3]";
    assert!(reads_its_own_effect(other));
    // A branch on what was picked.
    let branch = "CMP W0,#1; CSET W7,EQ; CBNZ W7,L; L:; MOV W8,#1; STR W8,[X3]";
    assert!(!reads_its_own_effect(branch));
}

#[test]
fn picks_go_on_through_memory() {
    let stored = "CMP W0,#1; CSET W7,EQ; STR W7,[X5]; LDR W8,[X5]";
    assert!(!reads_its_own_effect(&format!("{stored}; STR W8,[X3]")));
    assert!(reads_its_own_effect(&format!("{stored}; MOV W9,#1; STR W9,[X3]")));
    // Another write in between ends it.
    let overwritten = "CMP W0,#1; CSET W7,EQ; STR W7,[X5]; MOV W9,#1; STR W9,[X5]; LDR W8,[X5]";
    assert!(reads_its_own_effect(&format!("{overwritten}; STR W8,[X3]")));
    // A read of it is not ordered itself; where it acquires, writes behind it are.
    let address = "CMP W0,#1; CSET W7,NE; STR W7,[X5]; LDR W8,[X5]; EOR W9,W8,W8";
    assert!(reads_stale_data(&format!("{address}; LDR W2,[X3,W9,SXTW]")));
    let acquired = "CMP W0,#1; CSET W7,EQ; STR W7,[X5]; LDAR W8,[X5]; MOV W9,#1";
    assert!(!reads_its_own_effect(&format!("{acquired}; STR W9,[X3]")));
}

#[test]
fn a_compare_and_swap_is_decided_by_what_it_compares_with() {
    let swap = |expected: &str| format!("{expected}; MOV W8,#1; CAS W7,W8,[X3]");
    assert!(!reads_its_own_effect(&swap("EOR W7,W0,W0")));
    assert!(reads_its_own_effect(&swap("MOV W7,#0")));
}

#[test]
fn a_compare_and_swap_that_succeeds_may_leave_its_register_as_it_is() {
    let test = |then: &str| {
        is_allowed(&format!(
            "AArch64 MP\n{{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; }}\n P0 | P1 ;\n \
             MOV W0,#1 | MOV W5,#1 ;\n STR W0,[X1] | CAS W5,WZR,[X3] ;\n DMB SY | {then} ;\n \
             STR W0,[X3] | LDR W6,[X1,W7,SXTW] ;\nexists (1:X5=1 /\\ y=0 /\\ 1:X6=0)"
        ))
    };
    // So that what is computed from it does not depend on memory.
    assert!(test("EOR W7,W5,W5"));
    assert!(!test("DMB LD"));
}

#[test]
fn a_compare_and_swap_that_fails_may_write_back_what_it_read() {
    // A read behind it may then be of its own write, early.
    let test = |atomic: &str| {
        is_allowed(&format!(
            "AArch64 MP\n{{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; }}\n P0 | P1 ;\n \
             MOV W0,#1 | MOV W5,#7 ;\n STR W0,[X1] | {atomic} ;\n DMB SY | LDR W8,[X3] ;\n \
             STR W0,[X3] | EOR W7,W8,W8 ;\n | LDR W6,[X1,W7,SXTW] ;\n\
             exists (1:X5=1 /\\ 1:X8=1 /\\ 1:X6=0)"
        ))
    };
    assert!(test("CAS W5,W5,[X3]"));
    assert!(!test("LDR W5,[X3]"));
}

#[test]
fn an_atomic_without_a_result_does_not_acquire() {
    let test = |atomic: &str| {
        is_allowed(&format!(
            "AArch64 MP\n{{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; y=4; }}\n P0 | P1 ;\n \
             MOV W0,#1 | MOV W4,#2 ;\n STR W0,[X1] | {atomic} ;\n MOV W2,#0 | LDR W0,[X1] ;\n \
             STLR W2,[X3] | ;\nexists (y=2 /\\ 1:X0=0)"
        ))
    };
    for (returning, not) in [
        ("SWPA W4,W5,[X3]", "SWPA W4,WZR,[X3]"),
        ("LDADDA W4,W5,[X3]", "LDADDA W4,WZR,[X3]"),
        ("MOV W5,#0; CASA W5,W4,[X3]", "CASA WZR,W4,[X3]"),
    ] {
        let returning = returning.replace("; ", " ;\n | ");
        assert!(!test(&returning), "{returning}");
        assert!(test(not), "{not}");
    }
}
