//! Accesses and fences from their text: what the disassembler prints is assembled to the same
//! instruction, and so is what gem5 prints.

use chance::Rng;
use tribunal_riscv::{Effect, Register, Xlen, assemble, decode};

#[test]
fn what_is_printed_of_an_access_or_a_fence_is_assembled_to_the_same() {
    let mut rng = Rng::new(5);
    let mut seen = 0;
    for _ in 0..400_000 {
        // Opcodes of loads, stores, floating-point ones, fences and atomics.
        let opcode = [0x03, 0x23, 0x07, 0x27, 0x0f, 0x2f][rng.below(6)];
        let word = (rng.below(1 << 25) as u32) << 7 | opcode;
        let Some(instruction) = decode(word, Xlen::Rv64) else { continue };
        let text = instruction.text(0);
        // A fence that orders nothing has no text that can be read.
        if text.contains("unknown") {
            continue;
        }
        assert!(matches!(
            instruction.effect,
            Effect::Access(_) | Effect::Fence(_) | Effect::FenceInstructions
        ));
        let again = assemble(&text).unwrap_or_else(|| panic!("{word:#x} {text}"));
        let again = decode(again, Xlen::Rv64).expect("the table has it");
        assert_eq!(
            (again.effect, again.writes),
            (instruction.effect, instruction.writes),
            "{text}"
        );
        seen += 1;
    }
    assert!(seen > 50_000, "{seen}");
}

#[test]
fn other_spellings_are_the_same_instruction() {
    for (spelled, text) in [
        ("c_lw a0, 4(a1)", "lw a0,4(a1)"),
        ("c_ldsp a1, 8(sp)", "ld a1,8(sp)"),
        ("c_fsdsp fs0, 16(sp)", "fsd fs0,16(sp)"),
        ("sw x10, -4(fp)", "sw a0,-4(s0)"),
        ("lr_d_aq a0, (a1)", "lr.d.aq a0,(a1)"),
        ("amoswap_w_aqrl zero, t0, (a1)", "amoswap.w.aqrl zero,t0,(a1)"),
        ("fence rw, w", "fence rw,w"),
        ("fence iorw, iorw", "fence iorw,iorw"),
        ("fence_i", "fence.i"),
    ] {
        let word = assemble(spelled).unwrap_or_else(|| panic!("{spelled}"));
        assert_eq!(decode(word, Xlen::Rv64).expect("it is known").text(0), text);
    }
}

#[test]
fn nothing_else_is_taken_for_one() {
    for text in [
        "",
        "add a0, a0, a1",
        "lw a0, 4(a1), a2",
        "lw a0",
        "lw fa0, 0(a1)",
        "flw a0, 0(a1)",
        "lw a0, 2048(a1)",
        "lw a0, 4(x32)",
        "lw_aq a0, 4(a1)",
        "lwsp a0, 4(sp)",
        "fence , ",
        "fence rx, w",
        "sw a0, (a1",
        "amoadd_w a0, a1, a2",
    ] {
        assert_eq!(assemble(text), None, "{text}");
    }
    assert!("x+1".parse::<Register>().is_err() && "f32".parse::<Register>().is_err());
}
