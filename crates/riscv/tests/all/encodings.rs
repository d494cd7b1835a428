//! Encodings as the GNU assembler makes them, with what each instruction reads and writes by the
//! manual. `examples/against_objdump.rs` compares the decoder with the disassembler on random words.

use tribunal_riscv::{Access, AccessKind, Effect, Fence, Instruction, Register, Xlen, decode};

/// The words stand at addresses from 0 on; (word, text, registers read, register written).
const TABLE: &[(u32, &str, &str, &str)] = &[
    (0x1234_5537, "lui a0,0x12345", "", "a0"),
    (0x0000_1297, "auipc t0,0x1", "", "t0"),
    (0x0100_00ef, "jal ra,0x1010", "", "ra"),
    (0x0085_00e7, "jalr ra,8(a0)", "a0", "ra"),
    (0xfeb5_0ee3, "beq a0,a1,0xffc", "a0 a1", ""),
    (0x0094_7463, "bgeu s0,s1,0x1008", "s0 s1", ""),
    (0xfff1_0503, "lb a0,-1(sp)", "sp", "a0"),
    (0x0026_5583, "lhu a1,2(a2)", "a2", "a1"),
    (0x0005_2283, "lw t0,0(a0)", "a0", "t0"),
    (0x0044_6603, "lwu a2,4(s0)", "s0", "a2"),
    (0x00a5_8023, "sb a0,0(a1)", "a1 a0", ""),
    (0x0065_9323, "sh t1,6(a1)", "a1 t1", ""),
    (0xfe71_2e23, "sw t2,-4(sp)", "sp t2", ""),
    (0xffb5_8513, "addi a0,a1,-5", "a1", "a0"),
    (0x40c5_8533, "sub a0,a1,a2", "a1 a2", "a0"),
    (0x00c5_853b, "addw a0,a1,a2", "a1 a2", "a0"),
    (0x02c5_b533, "mulhu a0,a1,a2", "a1 a2", "a0"),
    (0x02c5_e53b, "remw a0,a1,a2", "a1 a2", "a0"),
    (0x0330_000f, "fence rw,rw", "", ""),
    (0x0ff0_000f, "fence iorw,iorw", "", ""),
    (0x8330_000f, "fence.tso", "", ""),
    (0x0000_100f, "fence.i", "", ""),
    (0x3403_12f3, "csrrw t0,0x340,t1", "t1", "t0"),
    (0x3004_6073, "csrrsi zero,0x300,8", "", ""),
    (0x0000_0073, "ecall", "", ""),
    (0x3020_0073, "mret", "", ""),
    (0x1005_a52f, "lr.w a0,(a1)", "a1", "a0"),
    (0x1405_b52f, "lr.d.aq a0,(a1)", "a1", "a0"),
    (0x18c5_a2af, "sc.w t0,a2,(a1)", "a1 a2", "t0"),
    (0x1ac5_b2af, "sc.d.rl t0,a2,(a1)", "a1 a2", "t0"),
    (0x0c55_a52f, "amoswap.w.aq a0,t0,(a1)", "a1 t0", "a0"),
    (0x06c6_b02f, "amoadd.d.aqrl zero,a2,(a3)", "a3 a2", ""),
    (0xe063_a2af, "amomaxu.w t0,t1,(t2)", "t2 t1", "t0"),
    (0x0045_2507, "flw fa0,4(a0)", "a0", "fa0"),
    (0x0016_2027, "fsw ft1,0(a2)", "a2 ft1", ""),
    (0x6ac5_f543, "fmadd.d fa0,fa1,fa2,fa3", "fa1 fa2 fa3", "fa0"),
    (0x00c5_9553, "fadd.s fa0,fa1,fa2,rtz", "fa1 fa2", "fa0"),
    (0xc225_1553, "fcvt.l.d a0,fa0,rtz", "fa0", "a0"),
    (0xf005_0553, "fmv.w.x fa0,a0", "a0", "fa0"),
    (0xa2b5_1553, "flt.d a0,fa0,fa1", "fa0 fa1", "a0"),
    (0x650c, "ld a1,8(a0)", "a0", "a1"),
    (0xe406, "sd ra,8(sp)", "sp ra", ""),
    (0x41c8, "lw a0,4(a1)", "a1", "a0"),
    (0xc110, "sw a2,0(a0)", "a0 a2", ""),
    (0x4532, "lw a0,12(sp)", "sp", "a0"),
    (0xa822, "fsd fs0,16(sp)", "sp fs0", ""),
    (0x2588, "fld fa0,8(a1)", "a1", "fa0"),
    (0x0505, "addi a0,a0,1", "a0", "a0"),
    (0x557d, "addi a0,zero,-1", "zero", "a0"),
    (0x852e, "add a0,zero,a1", "zero a1", "a0"),
    (0x952e, "add a0,a0,a1", "a0 a1", "a0"),
    (0xc501, "beq a0,zero,0x1008", "a0 zero", ""),
    (0xbffd, "jal zero,0xffe", "", ""),
    (0x8082, "jalr zero,0(ra)", "ra", ""),
    (0x9d0d, "subw a0,a0,a1", "a0 a1", "a0"),
    (0x850d, "srai a0,a0,0x3", "a0", "a0"),
    (0x1506, "slli a0,a0,0x21", "a0", "a0"),
];

fn wide(word: u32) -> Instruction {
    decode(word, Xlen::Rv64).unwrap_or_else(|| panic!("{word:#x} is an instruction"))
}

#[test]
fn encodings_of_the_assembler_have_its_text_and_the_registers_of_the_manual() {
    for &(word, text, reads, writes) in TABLE {
        let instruction = wide(word);
        assert_eq!(instruction.text(0x1000), text, "{word:#x}");
        let registers: Vec<String> = instruction.reads().map(|each| each.to_string()).collect();
        assert_eq!(registers.join(" "), reads, "{text}");
        let written = instruction.writes.map(|each| each.to_string()).unwrap_or_default();
        assert_eq!(written, writes, "{text}");
        assert_eq!(instruction.length, if word & 3 == 3 { 4 } else { 2 }, "{text}");
    }
}

#[test]
fn accesses_have_address_size_data_and_annotation() {
    let access = |word| match wide(word).effect {
        Effect::Access(access) => access,
        other => panic!("{word:#x} is {other:?}"),
    };
    let store = Access {
        kind: AccessKind::Store,
        base: Register::X(2),
        offset: -4,
        size: 4,
        data: Some(Register::X(7)),
        acquire: false,
        release: false,
    };
    assert_eq!(access(0xfe71_2e23), store);
    let amo = Access {
        kind: AccessKind::Amo,
        base: Register::X(13),
        offset: 0,
        size: 8,
        data: Some(Register::X(12)),
        acquire: true,
        release: true,
    };
    assert_eq!(access(0x06c6_b02f), amo);
    assert_eq!(access(0x1ac5_b2af).kind, AccessKind::StoreConditional);
    assert_eq!(access(0xa822).data, Some(Register::F(8)));
}

#[test]
fn fences_order_what_their_sets_say() {
    let fence = |word| match wide(word).effect {
        Effect::Fence(fence) => fence,
        other => panic!("{word:#x} is {other:?}"),
    };
    let pairs = |fence: Fence| {
        [(false, false), (false, true), (true, false), (true, true)]
            .map(|(earlier, later)| fence.orders(earlier, later))
    };
    assert_eq!(pairs(fence(0x0330_000f)), [true, true, true, true]);
    assert_eq!(pairs(fence(0x0230_000f)), [true, true, false, false]);
    assert_eq!(pairs(fence(0x0110_000f)), [false, false, false, true]);
    assert_eq!(pairs(fence(0x8330_000f)), [true, true, false, true]);
}

#[test]
fn the_width_of_registers_decides_what_a_word_is() {
    assert_eq!(decode(0x0085_3583, Xlen::Rv32), None, "ld");
    let text = |word, xlen| decode(word, xlen).map(|each| each.text(0));
    assert_eq!(text(0x6588, Xlen::Rv32).as_deref(), Some("flw fa0,8(a1)"));
    assert_eq!(text(0x6588, Xlen::Rv64).as_deref(), Some("ld a0,8(a1)"));
    assert_eq!(text(0x2001, Xlen::Rv32).as_deref(), Some("jal ra,0x0"));
    assert_eq!(text(0x2001, Xlen::Rv64), None);
}

#[test]
fn what_the_table_does_not_have_is_known_by_its_family_or_not_at_all() {
    // sh1add a0,a1,a2 of Zba
    let shifted_add = wide(0x20c5_a533);
    assert_eq!((shifted_add.effect, shifted_add.writes), (Effect::Compute, Some(Register::X(10))));
    assert_eq!(shifted_add.reads().count(), 2);
    for unknown in [0x0000_0000, 0xffff_ffff, 0x0000_0057, 0x0000_8007] {
        assert_eq!(decode(unknown, Xlen::Rv64), None, "{unknown:#x}");
    }
}
