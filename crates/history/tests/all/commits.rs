//! Commit logs: what their lines say, and what follows from it.

use tribunal_history::{
    CommitOptions, DiscardedAmo, EventId, Format, History, InputError, ReadOptions, TraceReader,
};

fn read_with(
    format: Format,
    log: &str,
    commits: CommitOptions,
) -> Result<Option<History>, InputError> {
    let options = ReadOptions { format, commits, ..ReadOptions::default() };
    TraceReader::new(log.as_bytes(), "run.log", options).next_trace()
}

fn read(format: Format, log: &str) -> History {
    let commits = CommitOptions { keep_prefix: true, ..CommitOptions::default() };
    read_with(format, log, commits).unwrap_or_else(|error| panic!("{error}")).expect("a trace")
}

/// The trace as text, without its comments.
fn text(history: &History) -> String {
    let lines = Format::Text.recorded_text(history);
    let lines: Vec<&str> =
        lines.lines().map(|line| line.split("  #").next().unwrap_or_default()).collect();
    lines.join("\n")
}

fn refusal(format: Format, log: &str) -> String {
    match read_with(format, log, CommitOptions::default()) {
        Err(error) => error.to_string(),
        Ok(history) => panic!("{history:?}"),
    }
}

/// Message passing: hart 0 writes data and flag with a fence between, hart 1 reads both.
const MESSAGE_PASSING: &str = "\
core   0: 3 0x0000000080000000 (0x00a5a023) mem 0x0000000080002000 0x0000002a
core   0: 3 0x0000000080000004 (0x0110000f)
core   0: 3 0x0000000080000008 (0x00d62023) mem 0x0000000080002040 0x00000001
core   1: 3 0x0000000080000100 (0x00062683) x13 0x0000000000000001 mem 0x0000000080002040
core   1: 3 0x0000000080000104 (0x0005a503) x10 0x0000000000000000 mem 0x0000000080002000
";

#[test]
fn a_log_of_spike_becomes_reads_writes_and_fences() {
    let history = read(Format::Spike, MESSAGE_PASSING);
    assert_eq!(
        text(&history),
        "init M[0x80002000:4] == 0\n\
         0: M[0x80002000:4] := 0x2a\n\
         0: fence w,w\n\
         0: M[0x80002040:4] := 1\n\
         1: M[0x80002040:4] == 1\n\
         1: M[0x80002000:4] == 0\n\
         check"
    );
    let load = history.event_ids().last().expect("five events");
    let commit = history.commit(load).expect("a commit");
    assert_eq!((commit.pc, commit.instruction), (Some(0x8000_0104), Some("lw a0,0(a1)")));
    let lines = Format::Text.recorded_text(&history);
    assert!(lines.contains("1: M[0x80002000:4] == 0  # 0x80000104 lw a0,0(a1)"), "{lines}");
}

#[test]
fn program_counters_survive_json_lines() {
    let history = read(Format::Spike, MESSAGE_PASSING);
    let lines = Format::JsonLines.text(&history);
    let first = lines.lines().nth(1).expect("a line");
    assert!(first.contains("\"pc\":2147483648,\"insn\":\"sw a0,0(a1)\""), "{first}");
    let again = read(Format::JsonLines, &lines);
    let same = |event: EventId| history.commit(event) == again.commit(event);
    assert!(history.event_ids().all(same));
}

#[test]
fn lines_that_commit_nothing_are_skipped() {
    let log = "warning: tohost\n\
               core   0: 0x0000000080000000 (0x00a5a023) sw      a0, 0(a1)\n\
               core   0: >>>>  main\n\
               core   0: exception trap_load_access_fault, epc 0x0000000080000000\n\
               core   0:           tval 0x0000000000000000\n\
               core   0: 3 0x80000000 (0x00a5a023) mem 0x80002000 0x0000002a\n\
               core   0: 3 0x80000004 (0x30001073) c768_mstatus 0x00000080\n\
               core   0: 3 0x80000008 (0x00000013)\n";
    assert_eq!(text(&read(Format::Spike, log)), "0: M[0x80002000:4] := 0x2a\ncheck");
}

#[test]
fn logs_of_old_versions_have_no_hart_and_pad_registers() {
    let log = "3 0x0000000080000000 (0x0005a283) x 5 0xffffffffffffffff mem 0x0000000080002000\n\
               3 0x0000000080000004 (0x0055a223) mem 0x0000000080002004 0xffffffff\n";
    assert_eq!(
        text(&read(Format::Spike, log)),
        "init M[0x80002000:4] == 4294967295\n\
         0: M[0x80002000:4] == 0xffffffff as h0.1\n\
         0: M[0x80002004:4] := 0xffffffff data h0.1\n\
         check",
        "the sign of a loaded word is no part of it, and what is stored depends on it"
    );
}

#[test]
fn addresses_and_stored_values_follow_from_registers_where_a_log_leaves_them_out() {
    let log = "core   0: 3 0x80000000 (0x800025b7) x11 0x80002000\n\
               core   0: 3 0x80000004 (0x02a00513) x10 0x0000002a\n\
               core   0: 3 0x80000008 (0x00a5a223)\n";
    assert_eq!(text(&read(Format::Spike, log)), "0: M[0x80002004:4] := 0x2a\ncheck");
    let unknown = "core   0: 3 0x80000008 (0x00a5a223)\n";
    assert_eq!(
        refusal(Format::Spike, unknown),
        "run.log:1:1: the log does not say the address of `sw a0,4(a1)`, nor an earlier value of a1"
    );
}

#[test]
fn dependencies_are_those_of_addresses_data_and_branches() {
    // ld a0; add a1,a0,a2; lw a3,0(a1); sw a3,0(a4); bne a3,zero; sw zero,0(a5); li a3; sw a3,4(a5)
    let log = "\
core   0: 3 0x0000000080000000 (0x00073503) x10 0x0000000080003000 mem 0x0000000080002000
core   0: 3 0x0000000080000004 (0x00c505b3) x11 0x0000000080003000
core   0: 3 0x0000000080000008 (0x0005a683) x13 0x0000000000000001 mem 0x0000000080003000
core   0: 3 0x000000008000000c (0x00d72023) mem 0x0000000080004000 0x00000001
core   0: 3 0x0000000080000010 (0x00069463)
core   0: 3 0x0000000080000018 (0x0007a023) mem 0x0000000080005000 0x00000000
core   0: 3 0x000000008000001c (0x00100693) x13 0x0000000000000001
core   0: 3 0x0000000080000020 (0x00d7a223) mem 0x0000000080005004 0x00000001
";
    assert_eq!(
        text(&read(Format::Spike, log)),
        "init M[0x80002000:8] == 2147495936\n\
         init M[0x80003000:4] == 1\n\
         0: M[0x80002000:8] == 0x80003000 as h0.1\n\
         0: M[0x80003000:4] == 1 as h0.3 dep h0.1\n\
         0: M[0x80004000:4] := 1 data h0.3\n\
         0: M[0x80005000:4] := 0 ctrl h0.3\n\
         0: M[0x80005004:4] := 1 ctrl h0.3\n\
         check"
    );
}

#[test]
fn load_reserved_and_store_conditional_are_pairs_if_they_succeed() {
    let log = "\
core   0: 3 0x0000000080000000 (0x1005a52f) x10 0x0000000000000000 mem 0x0000000080002000
core   0: 3 0x0000000080000004 (0x18c5a2af) x5  0x0000000000000001
core   0: 3 0x0000000080000008 (0x1405a52f) x10 0x0000000000000000 mem 0x0000000080002000
core   0: 3 0x000000008000000c (0x1ac5a2af) x5  0x0000000000000000 mem 0x0000000080002000 0x00000001
core   0: 3 0x0000000080000010 (0x00029463)
core   0: 3 0x0000000080000014 (0x0007a023) mem 0x0000000080005000 0x00000000
";
    assert_eq!(
        text(&read(Format::Spike, log)),
        "init M[0x80002000:4] == 0\n\
         0: M[0x80002000:4] == 0\n\
         0: M[0x80002000:4] == 0 acq as h0.3\n\
         0: M[0x80002000:4] := 1 rel pair h0.3 as h0.4\n\
         0: M[0x80005000:4] := 0 ctrl h0.4\n\
         check",
        "what is behind a branch on the result waits for the store-conditional"
    );
}

#[test]
fn amos_read_and_write_and_what_a_log_leaves_out_is_found_out_or_asked_for() {
    let swap = "core   0: 3 0x80000000 (0x0c55a52f) x10 0x00000000 mem 0x80002000 mem 0x80002000 0x00000001\n";
    assert_eq!(
        text(&read(Format::Spike, swap)),
        "init M[0x80002000:4] == 0\n\
         0: <M[0x80002000:4] == 0; M[0x80002000:4] := 1> acq\n\
         check"
    );
    // amoadd.w zero,a2,(a3): what was read is what was written less the operand.
    let add = "core   0: 3 0x80000000 (0x00500613) x12 0x00000005\n\
               core   0: 3 0x80000004 (0x00c6a02f) mem 0x80002000 mem 0x80002000 0x00000007\n";
    assert!(
        text(&read(Format::Spike, add)).contains("<M[0x80002000:4] == 2; M[0x80002000:4] := 7>")
    );
    // amoswap.w.rl zero,zero,(a1)
    let unlock = "core   0: 3 0x80000000 (0x00c5a023) mem 0x80002000 0x00000001\n\
                  core   0: 3 0x80000004 (0x0a05a02f) mem 0x80002000 mem 0x80002000 0x00000000\n";
    let refused = refusal(Format::Spike, unlock);
    assert!(
        refused.starts_with("run.log:2:1: the log has no value for what `amoswap.w.rl"),
        "{refused}"
    );
    assert!(refused.contains("--discarded-amo recorded"), "{refused}");
    let with = |discarded_amo| {
        let commits = CommitOptions { discarded_amo, ..CommitOptions::default() };
        text(&read_with(Format::Spike, unlock, commits).expect("a log").expect("a trace"))
    };
    assert!(
        with(DiscardedAmo::Recorded).contains("<M[0x80002000:4] == 1; M[0x80002000:4] := 0> rel")
    );
    assert!(with(DiscardedAmo::Store).contains("0: M[0x80002000:4] := 0 rel"));
}

#[test]
fn a_single_hart_prefix_becomes_initial_memory_up_to_its_last_fence() {
    let log = "\
core   0: 3 0x0000000080000000 (0x00a5a023) mem 0x0000000080002000 0x00000001
core   0: 3 0x0000000080000000 (0x00a5a023) mem 0x0000000080002000 0x00000005
core   0: 3 0x0000000080000004 (0x0330000f)
core   0: 3 0x0000000080000000 (0x00a5a023) mem 0x0000000080002040 0x00000007
core   1: 3 0x0000000080000104 (0x0005a503) x10 0x0000000000000005 mem 0x0000000080002000
";
    let skipped = read_with(Format::Spike, log, CommitOptions::default()).expect("a log");
    assert_eq!(
        text(&skipped.expect("a trace")),
        "init M[0x80002000:4] == 5\n\
         0: M[0x80002040:4] := 7\n\
         1: M[0x80002000:4] == 5\n\
         check"
    );
    assert_eq!(read(Format::Spike, log).len(), 5);
    // Whoever has seen older memory was there before the prefix was over.
    let older = log.replace("x10 0x0000000000000005", "x10 0x0000000000000001");
    let kept = read_with(Format::Spike, &older, CommitOptions::default()).expect("a log");
    assert_eq!(kept.expect("a trace").len(), 5);
}

#[test]
fn memory_held_what_is_read_and_not_written_before() {
    // Hart 0 reads 1 and later writes 1; hart 1 reads 2, which hart 0 writes behind.
    let own = "3 0x80000000 (0x0005a503) x10 0x00000001 mem 0x80002000\n\
               3 0x80000004 (0x00a5a023) mem 0x80002000 0x00000001\n";
    assert!(text(&read(Format::Spike, own)).starts_with("init M[0x80002000:4] == 1\n"));
    let other = "core   1: 3 0x80000000 (0x0005a503) x10 0x00000002 mem 0x80002000\n\
                 core   0: 3 0x80000004 (0x00a5a023) mem 0x80002000 0x00000002\n";
    assert!(text(&read(Format::Spike, other)).starts_with("init M[0x80002000:4] == 2\n"));
    // In files of their own, nothing is known of the order between harts.
    let joined = other.replace("core   1:", "==> a <==\n").replace("core   0:", "==> b <==\n");
    assert!(!text(&read(Format::Spike, &joined)).contains("init"));
    // Two values that nobody wrote are more than memory can have held.
    let two = "core   1: 3 0x80000000 (0x0005a503) x10 0x00000002 mem 0x80002000\n\
               core   1: 3 0x80000000 (0x0005a503) x10 0x00000003 mem 0x80002000\n";
    let refused = refusal(Format::Spike, two);
    assert!(refused.contains("run.log:2:1: reads 3 from M[0x80002000:4]"), "{refused}");
}

#[test]
fn private_and_constant_memory_is_left_out_and_passes_dependencies_on() {
    let shared_only = CommitOptions { shared_only: true, ..CommitOptions::default() };
    // ld a0 shared; sd a0 on the stack; ld a1 from the stack; sw zero,0(a1) shared; hart 1 shares.
    let log = "\
core   0: 3 0x0000000080000000 (0x00073503) x10 0x0000000080003000 mem 0x0000000080002000
core   0: 3 0x0000000080000004 (0x00a13423) mem 0x0000000080008008 0x0000000080003000
core   0: 3 0x0000000080000008 (0x00813583) x11 0x0000000080003000 mem 0x0000000080008008
core   0: 3 0x000000008000000c (0x0005a023) mem 0x0000000080003000 0x00000001
core   1: 3 0x0000000080000010 (0x00e73023) mem 0x0000000080002000 0x0000000080003000
core   1: 3 0x0000000080000014 (0x0005a683) x13 0x0000000000000001 mem 0x0000000080003000
core   1: 3 0x0000000080000018 (0x0005a683) x13 0x0000000000000009 mem 0x0000000080007000
";
    let history = read_with(Format::Spike, log, shared_only).expect("a log").expect("a trace");
    assert_eq!(
        text(&history),
        "0: M[0x80002000:8] == 0x80003000 as h0.1\n\
         0: M[0x80003000:4] := 1 dep h0.1\n\
         1: M[0x80002000:8] := 0x80003000\n\
         1: M[0x80003000:4] == 1\n\
         check"
            .replace(
                "0: M[0x80002000:8] ==",
                "init M[0x80002000:8] == 2147495936\n0: M[0x80002000:8] =="
            )
    );
    // A hart that does not read back what it wrote is not left out.
    let wrong = log
        .replace("x11 0x0000000080003000 mem 0x0000000080008008", "x11 0x0 mem 0x0000000080008008");
    let kept = read_with(Format::Spike, &wrong, shared_only).expect("a log").expect("a trace");
    assert_eq!(kept.len(), 6);
}

#[test]
fn files_of_several_harts_can_be_joined() {
    let log = "==> hart0.log <==\n\
               3 0x80000000 (0x00a5a023) mem 0x80002000 0x0000002a\n\
               \n\
               ==> hart1.log <==\n\
               3 0x80000100 (0x0005a503) x10 0x0000002a mem 0x80002000\n";
    assert_eq!(
        text(&read(Format::Spike, log)),
        "0: M[0x80002000:4] := 0x2a\n1: M[0x80002000:4] == 0x2a\ncheck"
    );
    let wrong = log.replace("(0x0005a503)", "(0x0005a503");
    assert_eq!(
        refusal(Format::Spike, &wrong),
        "hart1.log:1:25: expected `)`, found ` `",
        "errors are about the file they are in"
    );
}

#[test]
fn rvfi_is_read_as_columns_as_commits_and_by_name() {
    let columns = "Time\tCycle\tPC\tInstr\tDecoded instruction\tRegister and memory contents\n\
        130\t61\t00000150\t4481\tc.li\tx9,0\t x9=0x00000000\n\
        142\t67\t0000015c\tc622\tc.swsp\tx8,12(x2)\t x2:0x00002000  x8:0x0000002a PA:0x0000200c store:0x0000002a load:0xffffffff\n\
        144\t68\t0000015e\t4532\tc.lwsp\tx10,12(x2)\t x2:0x00002000 x10=0x0000002a PA:0x0000200c load:0x0000002a\n\
        146\t69\t00000160\t00a58023\tsb\tx10,0(x11)\t x11:0x00002010 x10:0x0000002a PA:0x00002010 store:0x??????2a\n\
        148\t70\t00000164\t0000\t-->c.unimp\t\n";
    let history = read(Format::Rvfi, columns);
    assert_eq!(
        text(&history),
        "0: M[0x200c:4] := 0x2a\n\
         0: M[0x200c:4] == 0x2a as h0.4\n\
         0: M[0x2010:1] := 0x2a data h0.4\n\
         check"
    );
    let load = history.event_at(history.threads().next().expect("a hart"), 1).expect("a load");
    assert_eq!(history.commit(load).expect("a commit").to_string(), "0x15e lw a0,12(sp), cycle 68");
    let commits = "core   0: 0x0000000080000010 (0x00b52023) DASM(00b52023)\n\
                   3 0x0000000080000010 (0x00b52023) mem 0x0000000080002000 0x0000000000000001\n\
                   LD_ACCESS_FAULT exception @ 0x0000000080000010 (0x00b52023)\n";
    assert_eq!(text(&read(Format::Rvfi, commits)), "0: M[0x80002000:4] := 1\ncheck");
    let named = "rvfi hart=1 cycle=67 insn=0005c503 pc_rdata=80000010 rd_addr=10 rd_wdata=2a \
                 mem_addr=80002000 mem_rmask=4 mem_rdata=2a0000\n\
                 rvfi_valid=1 rvfi_insn=0x00b50023, rvfi_pc_rdata=0x80000014, rvfi_mem_addr=80002004, \
                 rvfi_mem_wmask=1, rvfi_mem_wdata=2b, rvfi_hart=0\n\
                 rvfi_trap=1 rvfi_insn=0x00b50023, rvfi_pc_rdata=0x80000014\n";
    assert_eq!(
        text(&read(Format::Rvfi, named)),
        "init M[0x80002002:1] == 42\n1: M[0x80002002:1] == 0x2a\n0: M[0x80002004:1] := 0x2b\ncheck"
    );
}

#[test]
fn whisper_is_read_as_trace_and_as_memory_events() {
    let trace = "\
#7 0  M 0000000080000010 0005a503 r 000000000000000a 0000000000000001 lw x10, 0x0(x11) [0x80002000]
#8 0  M 0000000080000014 00a62023 m 0000000080002040 0000000000000001 sw x10, 0x0(x12) [0x80002040]
#9 1  M 0000000080000018 0c55a52f r 000000000000000a 0000000000000001 amoswap.w.aq x10, x5, (x11) [0x80002000]  +
#9 1  M 0000000080000018 0c55a52f m 0000000080002000 0000000000000003 amoswap.w.aq x10, x5, (x11) [0x80002000]
#10 1  M 000000008000001c 0005a503 r 0000000000000000 0000000000000000 lw x10, 0x0(x11) [0x0] (exception)
";
    assert_eq!(
        text(&read(Format::Whisper, trace)),
        "init M[0x80002000:4] == 1\n\
         0: M[0x80002000:4] == 1 as h0.1\n\
         0: M[0x80002040:4] := 1 data h0.1\n\
         1: <M[0x80002000:4] == 1; M[0x80002000:4] := 3> acq\n\
         check"
    );
    let events = "\
hart=0 time=12 mread 8 0x80002000 4 0x1 e
hart=0 time=11 mread 7 0x80002040 4 0x0 e
hart=0 time=14 mread 9 0x80002040 4 0x5 e
hart=1 time=15 mbinsert 3 0x80002000 4 0x1
hart=0 time=16 step 1 7
hart=0 time=16 step 1 8
";
    let history = read(Format::Whisper, events);
    assert_eq!(
        Format::Text.text(&history),
        "init M[0x80002040:4] == 0\n\
         0: M[0x80002040:4] == 0  # cycle 11\n\
         0: M[0x80002000:4] == 1  # cycle 12\n\
         1: M[0x80002000:4] := 1  # cycle 15\n\
         check\n"
    );
}

#[test]
fn m3_events_become_the_accesses_that_were_committed() {
    let log = "\
event kFlushRob; hart_id 1; rob_id 0; timestamp 27; 
event kCreateMemop; hart_id 0; rob_id 8; rv_instruction 370947; branch_mask 0; timestamp 90; is_load true; 
event kCreateMemop; hart_id 0; rob_id 9; rv_instruction 12984867; branch_mask 0; timestamp 91; is_store true; 
event kAddMemopAddress; hart_id 0; rob_id 8; memop_size 2; address 8192; memop_id 0; timestamp 100; is_load true; 
event kPerformLoad; hart_id 0; rob_id 8; load_rtl_data 7; timestamp 104; 
event kAddMemopAddress; hart_id 0; rob_id 9; memop_size 2; address 8196; memop_id 0; timestamp 105; is_store true; 
event kAddStoreData; hart_id 0; rob_id 9; store_data 9; timestamp 106; 
event kCommitMemop; hart_id 0; rob_id 8; timestamp 110; 
event kCommitMemop; hart_id 0; rob_id 9; timestamp 111; 
event kCreateMemop; hart_id 0; rob_id 8; rv_instruction 370947; branch_mask 0; timestamp 112; is_load true; 
";
    let history = read(Format::M3, log);
    assert_eq!(
        Format::Text.text(&history),
        "init M[0x2000:4] == 7\n\
         0: M[0x2000:4] == 7  # lw s2,0(a1), cycle 110\n\
         0: M[0x2004:4] := 9  # sw a2,4(a2), cycle 111\n\
         check\n"
    );
}

#[test]
fn bad_lines_are_refused_where_they_are_wrong() {
    let cases: &[(Format, &str, &str)] = &[
        (Format::Spike, "core   0: 3 0xzz (0x13)", "1:13: expected an address in hexadecimal"),
        (Format::Spike, "core   0: 3 0x80000000 (0x112345678)", "1:25: expected an instruction"),
        (Format::Spike, "core   0: 3 0x80000000 (0x13) x32 0x0", "1:31: expected a register"),
        (Format::Spike, "core   0: 3 0x80000000 (0x13) x5 5", "1:34: expected a value"),
        (Format::Spike, "core   0: 3 0x80000000 (0x13) mem", "1:34: expected an address"),
        (Format::Spike, "core   0: 3 0x80000000 (0x13) hello", "1:31: expected a register"),
        (Format::Spike, "core   0: 3 0x80000000 (0x00000013) mem 0x1", "accesses no memory"),
        (Format::Spike, "core   0: 3 0x80000000 (0x02058007) mem 0x1", "unknown instruction"),
        (Format::Spike, "core   0: 3 0x80000000 (0x0000000b) x5 0x1", "--skip-unknown"),
        (
            Format::Spike,
            "core   0: 3 0x80000000 (0x0005a503) mem 0x1000",
            "what `lw a0,0(a1)` read",
        ),
        (
            Format::Spike,
            "core   0: 3 0x8000000000000000 (0x0005b503) x10 0x0 mem 0xffffffffffffffff",
            "past the last byte",
        ),
        (Format::Rvfi, "rvfi pc_rdata=80000000", "expected `insn=`"),
        (Format::Rvfi, "rvfi insn=zz", "1:11: expected a number"),
        (Format::Rvfi, "1 2 00000150 4532 c.lwsp x10=0xzz", "expected a value"),
        (Format::Whisper, "#1 0 M 80000000 0005a503 q 0 0", "`r`, `f`, `v`, `c` or `m`"),
        (Format::Whisper, "#1 0 M 80000000 0005a503 r 20 0", "a register from 0 to 1f"),
        (Format::Whisper, "hart=0 time=1 mread 1 0x1000 3 0x0", "a size of 1, 2, 4 or 8"),
        (Format::Whisper, "hart=x time=1 mread", "1:6: expected a hart"),
        (
            Format::Gem5,
            "1: system.cpu T0 : 0x1 : ldr x0, [x1] : MemRead : D=0x1 A=0x8",
            "of RISC-V",
        ),
        (Format::Gem5, "1: system.cpu T0 : 0x1 : lw a0, 0(a1) : MemRead : A=0x8", "ExecResult"),
        (Format::Gem5, "1: system.cpu T0 : 0x1 : sw a0, 0(a1) : MemWrite : A=0x8", "ExecResult"),
        (
            Format::Gem5,
            "1: system.cpu T0 : 0x1. 0 : amoadd_w[l] a0, a1, (a2) : MemRead : D=0x1 A=0x8",
            "ExecMacro",
        ),
        (
            Format::Gem5,
            "1: system.cpu T0 : 0x1 : amocas_w a0, a1, (a2) : MemRead : D=0x1 A=0x8",
            "amocas",
        ),
        (
            Format::Gem5,
            "1: system.cpu T0 : 0x1 : sc_w zero, a1, (a2) : MemWrite : D=0x0 A=0x8",
            "zero",
        ),
        (Format::M3, "event kCommitMemop; rob_id 1;", "`hart_id`"),
        (Format::M3, "event kCreateMemop; hart_id 0; rob_id 1; rv_instruction x;", "a number"),
    ];
    for &(format, log, expected) in cases {
        let refused = refusal(format, log);
        assert!(refused.starts_with("run.log:1:") && refused.contains(expected), "{refused}");
    }
}

/// Message passing as gem5 prints it: with program counters and symbols, in the spellings of its
/// versions, with a lock by an atomic and a conditional store.
const GEM5: &str = "\
gem5 Simulator System.  https://www.gem5.org
      0: system.remote_gdb: listening for remote gdb on port 7000
   1000: system.cpu0: T0 : 0x10090 @main    : c_li a5, 42                : IntAlu :  D=0x000000000000002a  flags=(IsInteger)
   1500: system.cpu0: T0 : 0x10094 @main+4    : sw a5, 0(a4)               : MemWrite :  D=0x000000000000002a A=0x80002000  flags=(IsInteger|IsMemRef|IsStore)
   2000: system.cpu0: T0 : 0x10098    : fence rw, w                : No_OpClass :
   2500: system.cpu0: T0 : 0x1009c    : amoadd_w_rl a0, a5, (a2)
   2500: system.cpu0: T0 : 0x1009c. 0 :   0x02f6252f fence           : No_OpClass :
   2500: system.cpu0: T0 : 0x1009c. 1 :   amoadd_w[l] a0, a5, (a2)   : MemRead :  D=0x0000000000000001 A=0x80002040
   2600: system.cpu1 T0 : @reader.part.0    : lr_w_aq a0, (a1)
   2600: system.cpu1 T0 : @reader.part.0. 0 :   lr_w a0, (a1)       : MemRead :  D=0x000000000000002b A=0x80002040
   2600: system.cpu1 T0 : @reader.part.0. 1 :   0x1405a52f fence    : No_OpClass :
   2700: system.cpu1 T0 : @reader.part.0+4    : c_li a6, 7          : IntAlu :  D=0x0000000000000007
   2800: system.cpu1 T0 : @reader.part.0+8    : sc_w t0, a6, (a1)
   2800: system.cpu1 T0 : @reader.part.0+8. 0 :   sc_w t0, a6, (a1)   : MemWrite :  D=0x0000000000000000 A=0x80002040
   2900: system.cpu1 T0 : @reader.part.0+12    : sc_w t0, a6, (a1)
   2900: system.cpu1 T0 : @reader.part.0+12. 0 :   sc_w t0, a6, (a1)   : MemWrite :  D=0x0000000000000001 A=0x80002040
   3000: system.cpu1 T0 : 0x10194    : lb a0, 0(a1)               : MemRead :  D=0xffffffffffffffff A=0x80002000
";

#[test]
fn a_log_of_gem5_becomes_accesses_and_fences() {
    let history = read(Format::Gem5, GEM5);
    assert_eq!(
        text(&history),
        "init M[0x80002000:4] == 255\n\
         init M[0x80002040:4] == 1\n\
         init M[0x80002000:1] == 255\n\
         0: M[0x80002000:4] := 0x2a\n\
         0: fence rw,w\n\
         0: <M[0x80002040:4] == 1; M[0x80002040:4] := 0x2b> rel\n\
         1: M[0x80002040:4] == 0x2b acq as h1.10\n\
         1: M[0x80002040:4] := 7 pair h1.10\n\
         1: M[0x80002000:1] == 0xff\n\
         check"
    );
    let store = history.event_ids().next().expect("six events");
    let commit = history.commit(store).expect("a commit");
    assert_eq!((commit.pc, commit.instruction), (Some(0x1_0094), Some("sw a5,0(a4)")));
    assert_eq!(commit.cycle, Some(1500));
}

#[test]
fn the_operand_of_an_atomic_of_gem5_is_known_or_the_line_is_refused() {
    let amo = "2: system.cpu T0 : 0x8    : amoadd_w a0, a5, (a2)\n\
               2: system.cpu T0 : 0x8. 0 : amoadd_w[l] a0, a5, (a2) : MemRead : D=0x1 A=0x80\n";
    let operand = "1: system.cpu T0 : 0x4    : c_li a5, 2 : IntAlu : D=0x2\n";
    let history = read(Format::Gem5, &format!("{operand}{amo}"));
    assert!(text(&history).contains("M[0x80:4] := 3"), "{}", text(&history));
    for between in ["", "1: system.cpu T0 : 0x6    : ecall : No_OpClass :\n"] {
        let log =
            if between.is_empty() { amo.to_owned() } else { format!("{operand}{between}{amo}") };
        let refused = refusal(Format::Gem5, &log);
        assert!(refused.contains("what `amoadd.w a0,a5,(a2)` stored"), "{refused}");
    }
    // A call leaves its result in `ra`, not in its operand.
    let call = "1: system.cpu T0 : 0x6    : c_jalr a5 : IntAlu : D=0x8\n";
    assert!(text(&read(Format::Gem5, &format!("{operand}{call}{amo}"))).contains(":= 3"));
}

#[test]
fn harts_of_gem5_have_the_numbers_of_its_cpus() {
    let line =
        |cpu: &str| format!("1: {cpu} T0 : 0x4    : lw a0, 0(a1) : MemRead : D=0x0 A=0x80\n");
    for (cpus, threads) in [
        (&["system.cpu1:", "system.cpu0:"][..], &[1, 0][..]),
        (&["board.processor.cores2.core:", "board.processor.cores0.core:"], &[2, 0]),
        (&["system.big0.cpus1:", "system.little0.cpus1:"], &[1, 0]),
        (&["system.cpu1", "system.switch_cpus1"], &[1, 1]),
        (&["system.cpu", "system.switch_cpus"], &[0, 0]),
    ] {
        let log: String = cpus.iter().map(|cpu| line(cpu)).collect();
        let text = text(&read(Format::Gem5, &log));
        let found: Vec<u64> =
            text.lines().filter_map(|line| line.split_once(": M")?.0.parse().ok()).collect();
        assert_eq!(found, threads, "{text}");
    }
}
