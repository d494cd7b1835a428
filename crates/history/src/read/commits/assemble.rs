//! From what all harts did to a history: which accesses count, what memory held at first, and who
//! depends on whom.

use riscv::{Effect, Fence, Instruction};
use rustc_hash::FxHashMap;

use super::CommitOptions;
use super::dependencies::{Dependencies, Loaded, Set};
use super::left_out::LeftOut;
use super::memory::{Image, Initial};
use super::run::{Action, Commit, Run};
use crate::annotation::{AccessOrder, DependencyKind, FenceName};
use crate::build_error::{BuildError, BuildErrorKind, error};
use crate::builder::{Builder, Draft};
use crate::commit::CommitColumns;
use crate::event::{ByteRange, Kinds, Operation};

/// The most dependencies that a log may have, for each instruction in it: beyond that, something
/// that is read in long loops is better left out.
const DEPENDENCIES_EACH: usize = 16;
const DEPENDENCIES_AT_LEAST: usize = 1 << 20;

/// Puts a run into a builder.
pub(super) fn assemble(
    run: &Run,
    options: &CommitOptions,
    builder: &mut Builder,
) -> Result<(), BuildError> {
    let start = if options.keep_prefix { 0 } else { prefix(run) };
    if from(run, start, options, builder)? {
        return Ok(());
    }
    // Somebody has seen what memory held before the end of the prefix, so it is not over.
    from(run, 0, options, builder)?;
    Ok(())
}

/// Puts a run from an instruction on into a builder; false if that does not fit what was before.
fn from(
    run: &Run,
    start: usize,
    options: &CommitOptions,
    builder: &mut Builder,
) -> Result<bool, BuildError> {
    let (skipped, part) = run.commits.split_at(start);
    let mut image = Image::default();
    skipped.iter().for_each(|commit| image.see(commit));
    let left_out = LeftOut::new(run, part, options.shared_only);
    let kept = part.iter().filter(|each| each.accesses() && !left_out.contains(each));
    let initial = Initial::new(&image, kept, run.in_order);
    if start > 0 && initial.contradicted {
        return Ok(false);
    }
    let harts = run.harts.iter().map(|&label| Hart::new(label)).collect();
    let limit = (part.len() * DEPENDENCIES_EACH).max(DEPENDENCIES_AT_LEAST);
    let texts = FxHashMap::default();
    let assembly = Assembly { run, builder, harts, left_out, initial, dependencies: limit, texts };
    assembly.all(part)?;
    Ok(true)
}

/// How many instructions to skip: those of the first hart up to its last full fence before a second
/// hart begins. What was stored before the fence is in memory by then.
fn prefix(run: &Run) -> usize {
    let Some(first) = run.commits.first() else { return 0 };
    let Some(alone) = run.commits.iter().position(|commit| commit.hart != first.hart) else {
        return 0;
    };
    let settles = |commit: &Commit| match run.code.get(commit.code as usize).map(|c| c.effect) {
        Some(Effect::Fence(fence)) => fence.orders(true, false) && fence.orders(true, true),
        _ => false,
    };
    run.commits[..alone].iter().rposition(settles).map_or(0, |at| at + 1)
}

/// A hart while its instructions are replayed.
struct Hart {
    label: u64,
    dependencies: Dependencies,
    /// The latest load-reserved without a store-conditional behind it.
    reserved: Option<(Draft, u64, u8)>,
}

impl Hart {
    fn new(label: u64) -> Self {
        Hart { label, dependencies: Dependencies::new(), reserved: None }
    }
}

struct Assembly<'r> {
    run: &'r Run,
    builder: &'r mut Builder,
    harts: Vec<Hart>,
    left_out: LeftOut,
    initial: Initial,
    /// How many more dependencies there may be.
    dependencies: usize,
    /// The texts of instructions, by their numbers.
    texts: FxHashMap<u32, u32>,
}

impl Assembly<'_> {
    fn all(mut self, part: &[Commit]) -> Result<(), BuildError> {
        for commit in part {
            let instruction = self.run.code.get(commit.code as usize).copied();
            if !self.run.complete {
                self.without_registers(commit, instruction.as_ref())?;
                continue;
            }
            let Some(instruction) = instruction else { continue };
            match instruction.effect {
                Effect::Access(_) if self.left_out.contains(commit) => {
                    self.leave_out(commit, &instruction);
                }
                Effect::Access(_) => self.access(commit, &instruction)?,
                Effect::Fence(fence) => self.fence(commit, fence)?,
                _ => self.hart(commit).dependencies.computes(&instruction),
            }
        }
        Ok(())
    }

    fn hart(&mut self, commit: &Commit) -> &mut Hart {
        &mut self.harts[usize::from(commit.hart)]
    }

    /// An instruction of a log that has only some of them: nothing is known of registers.
    fn without_registers(
        &mut self,
        commit: &Commit,
        instruction: Option<&Instruction>,
    ) -> Result<(), BuildError> {
        match instruction.map(|each| each.effect) {
            Some(Effect::Fence(fence)) => self.fence(commit, fence),
            _ if commit.action == Action::Nothing || self.left_out.contains(commit) => Ok(()),
            _ => {
                let draft = self.event(commit)?;
                if let Some(instruction) = instruction {
                    self.annotate(draft, instruction)?;
                }
                self.pair(commit, draft)
            }
        }
    }

    /// An access that becomes no event, but passes dependencies on.
    fn leave_out(&mut self, commit: &Commit, instruction: &Instruction) {
        let Effect::Access(access) = instruction.effect else { return };
        let Commit { address, size, .. } = *commit;
        let dependencies = &mut self.hart(commit).dependencies;
        let by = dependencies.of(access.base);
        dependencies.branches(by);
        if commit.writes() {
            let data = access.data.map_or(Set::NONE, |register| dependencies.of(register));
            let all = dependencies.join(by, data);
            dependencies.writes_memory(address, size, all);
        } else {
            let stored = dependencies.of_memory(address, size);
            let all = dependencies.join(by, stored);
            dependencies.set(instruction.writes, all);
        }
    }

    fn access(&mut self, commit: &Commit, instruction: &Instruction) -> Result<(), BuildError> {
        let Effect::Access(access) = instruction.effect else { return Ok(()) };
        let Commit { address, size, action, line, .. } = *commit;
        match action {
            // A store-conditional that failed.
            Action::Nothing | Action::Fence => {
                let hart = self.hart(commit);
                hart.reserved = None;
                hart.dependencies.set(instruction.writes, Set::NONE);
                return Ok(());
            }
            Action::LoadOfUnknown => {
                let reason = "the log has no value for this load, since it wrote no register, and \
                              a fence of the hart depends on it";
                return Err(error(BuildErrorKind::Other { reason: reason.into() }, line));
            }
            _ => {}
        }
        let draft = self.event(commit)?;
        self.annotate(draft, instruction)?;
        let hart = self.hart(commit);
        let paired = matches!(hart.reserved, Some((_, at, its)) if (at, its) == (address, size));
        let dependencies = &mut hart.dependencies;
        let by = dependencies.of(access.base);
        let of_address = dependencies.list(by);
        let mut of_data = Vec::new();
        let mut of_control = Vec::new();
        if commit.writes() {
            let mut data = Set::NONE;
            for register in instruction.reads().filter(|&register| register != access.base) {
                data = dependencies.join(data, dependencies.of(register));
            }
            if access.data == Some(access.base) {
                data = dependencies.join(data, by);
            }
            of_data = dependencies.list(data);
            of_control = dependencies.controls(draft.number(), address, size);
        }
        of_control.retain(|each| {
            of_address.binary_search(each).is_err() && of_data.binary_search(each).is_err()
        });
        let acquires = access.acquire;
        match action {
            Action::StoreConditional if paired => {
                dependencies.set_success_register(instruction.writes, draft.number());
            }
            // One that succeeds without its load is no store-conditional as the manual knows it.
            Action::StoreConditional => dependencies.set(instruction.writes, Set::NONE),
            // Everything behind an acquire is ordered by it.
            _ if acquires => dependencies.set(instruction.writes, Set::NONE),
            _ => {
                let only = dependencies.only(draft.number());
                dependencies.set(instruction.writes, only);
                if action == Action::Load {
                    dependencies.loads(draft.number(), Loaded { address, size, by });
                }
            }
        }
        let lists = [
            (DependencyKind::Address, of_address),
            (DependencyKind::Data, of_data),
            (DependencyKind::Control, of_control),
        ];
        for (kind, list) in lists {
            for source in list {
                self.depends(commit, draft, source, kind)?;
            }
        }
        self.pair(commit, draft)
    }

    fn depends(
        &mut self,
        commit: &Commit,
        event: Draft,
        source: u32,
        kind: DependencyKind,
    ) -> Result<(), BuildError> {
        let Some(left) = self.dependencies.checked_sub(1) else {
            let reason = "too many dependencies up to this line; --shared-only leaves out memory \
                          that is not shared";
            return Err(error(BuildErrorKind::Other { reason: reason.into() }, commit.line));
        };
        self.dependencies = left;
        let source = Draft::numbered(source);
        self.name(commit, source)?;
        self.builder.depends(event, source, kind)
    }

    /// Names an event after its hart and its line, so that others can refer to it.
    fn name(&mut self, commit: &Commit, event: Draft) -> Result<(), BuildError> {
        if self.builder.has_name(event) {
            return Ok(());
        }
        let label = self.harts[usize::from(commit.hart)].label;
        let name = format!("h{label}.{}", self.builder.line_of(event));
        self.builder.name(event, &name)
    }

    /// Adds an access as an event.
    fn event(&mut self, commit: &Commit) -> Result<Draft, BuildError> {
        let Commit { address, size, read, written, line, .. } = *commit;
        let Some(range) = ByteRange::new(address, size) else {
            let reason = format!("an access of {size} bytes at {address:#x} is not possible");
            return Err(error(BuildErrorKind::Other { reason: reason.into() }, line));
        };
        let place = self.builder.address_of_bytes(range);
        if let Some((value, seen)) = self.initial.take(range) {
            self.builder.initial(place, value, seen)?;
        }
        let operation = match commit.action {
            Action::Amo => Operation::ReadModifyWrite { address: place, read, write: written },
            Action::Store | Action::StoreConditional => {
                Operation::Write { address: place, value: written }
            }
            _ => Operation::Read { address: place, value: read },
        };
        let label = self.hart(commit).label;
        let draft = self.builder.event(label, operation, line)?;
        self.add_event(commit, draft)?;
        Ok(draft)
    }

    fn annotate(&mut self, draft: Draft, instruction: &Instruction) -> Result<(), BuildError> {
        let Effect::Access(access) = instruction.effect else { return Ok(()) };
        let order = match (access.acquire, access.release) {
            (false, false) => return Ok(()),
            (true, false) => AccessOrder::Acquire,
            (false, true) => AccessOrder::Release,
            (true, true) => AccessOrder::AcquireRelease,
        };
        self.builder.annotate(draft, order)
    }

    /// Joins a store-conditional to its load-reserved.
    fn pair(&mut self, commit: &Commit, draft: Draft) -> Result<(), BuildError> {
        let Commit { address, size, .. } = *commit;
        match commit.action {
            Action::LoadReserved => self.hart(commit).reserved = Some((draft, address, size)),
            Action::StoreConditional => {
                let reserved = self.hart(commit).reserved.take();
                if let Some((load, ..)) =
                    reserved.filter(|&(_, at, its)| (at, its) == (address, size))
                {
                    self.name(commit, load)?;
                    self.builder.pair_with(draft, load)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn fence(&mut self, commit: &Commit, fence: Fence) -> Result<(), BuildError> {
        let before = Kinds { reads: fence.before_reads, writes: fence.before_writes };
        let after = Kinds { reads: fence.after_reads, writes: fence.after_writes };
        // A fence of devices orders no memory.
        if before == Kinds::NONE || after == Kinds::NONE {
            return Ok(());
        }
        let label = self.hart(commit).label;
        let draft = match fence.tso {
            true => self.builder.fence(label, FenceName::Tso, commit.line)?,
            false => self.builder.event(label, Operation::Fence { before, after }, commit.line)?,
        };
        self.hart(commit).dependencies.fence(fence);
        self.add_event(commit, draft)
    }

    /// Notes where an event comes from.
    fn add_event(&mut self, commit: &Commit, draft: Draft) -> Result<(), BuildError> {
        let text = match self.texts.get(&commit.code) {
            Some(&text) => text,
            None => {
                let instruction = self.run.code.get(commit.code as usize);
                let text = instruction.map_or(CommitColumns::NO_TEXT, |instruction| {
                    self.builder.commit_text(&instruction.text(commit.pc.unwrap_or(0)))
                });
                self.texts.insert(commit.code, text);
                text
            }
        };
        self.builder.commit(draft, commit.pc, text, commit.cycle)
    }
}
