//! From the typed model to Cranelift's intermediate form, one native function at a time.
//!
//! Simple values are 64-bit integers in registers ([`operand`]); what is stored is as `layout` says,
//! at addresses that are followed once and then kept ([`place`]). Every run-time error is a branch
//! to one cold block of the function, without any detail: the reference interpreter finds the words.
//! Since all errors of a rule are the same to an exploration, only what can be distinguished keeps its
//! order: errors, `assume`, and what `&`, `|`, `->`, `?:`, loops and statements leave out.
//!
//! Recursion follows the nesting of the source, which the parser limits.
//!
//! Where very many branches lead to one block (run-time errors, the end of a long `elsif`), the code
//! generator takes time in the square of their number to see what dominates it. So after some
//! branches the next ones lead to a block of their own that jumps on; no such jump is left in the
//! machine code.

mod arithmetic;
mod body;
mod call;
mod condition;
mod domain;
mod expression;
mod guards;
mod instances;
mod memory;
mod operand;
mod place;
mod property;
mod statement;
mod unfailing;
mod written;

use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, ExtFuncData, ExternalName, FuncRef, Function, InstBuilder,
    MemFlagsData, Signature, Type, UserExternalName, UserFuncName, Value, types,
};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use murphi::ir::{Model, TypeId};
use murphi::layout::Layout;

use crate::Error;
use crate::facts::Knowledge;
use crate::host::Context;
use crate::memo::Memos;
use crate::orders::Orders;
pub(crate) use body::body;
pub(crate) use call::{EXCLUDED, FAILED, function};
pub(crate) use guards::{Guarded, guards};
pub(crate) use memory::GREATEST_ARENA;
use memory::{Memory, MemoryUse};
use place::Scope;
pub(crate) use property::{BROKEN, STATUS_BITS, properties};

/// How many branches lead to one block before the next ones go another way to it.
const MANY_BRANCHES: u32 = 64;

/// The most instructions one native function may have.
const GREATEST_FUNCTION: usize = 1 << 20;

/// What all translations of a model share.
pub(crate) struct Unit<'m> {
    pub(crate) model: &'m Model,
    pub(crate) layout: &'m Layout,
    pub(crate) knowledge: &'m Knowledge,
    pub(crate) isa: &'m dyn TargetIsa,
    /// Whether the code says which lines of a state it writes.
    pub(crate) tracks: bool,
    /// The functions whose results are kept while the state is the same.
    pub(crate) memos: &'m Memos,
    /// The orders of loops that can be tried.
    pub(crate) orders: Option<&'m Orders>,
    /// For each function already translated, the memory that it needs.
    pub(crate) needs: Vec<MemoryUse>,
}

/// A native function before it is compiled.
pub(crate) struct Translated {
    pub(crate) function: Function,
    pub(crate) need: MemoryUse,
}

/// Where control goes from inside a function, rule or property.
#[derive(Clone, Copy)]
struct Exits {
    /// On a run-time error.
    error: Block,
    /// When an `assume` does not hold.
    exclude: Block,
    /// On `return`; takes the result if that is simple.
    leave: Block,
    /// The type of the result.
    result: Option<TypeId>,
    /// Where a result with components goes.
    room: Option<Value>,
}

/// How branches get to a block that is not filled yet.
#[derive(Clone, Default)]
struct IncomingBranches {
    /// How many lead to the last stage, or to the block itself if there is none.
    branches: u32,
    /// Blocks that lead to the one before, the first to the block itself.
    stages: Vec<Block>,
}

/// The translation of one native function.
struct Translator<'a, 'm> {
    unit: &'a Unit<'m>,
    builder: FunctionBuilder<'a>,
    /// The state that is read and written.
    state: Value,
    context: Value,
    scope: Scope<'m>,
    exits: Exits,
    memory: Memory,
    /// An element may have left a multiset since references were bound, or since the rule began.
    shrunk: bool,
    ways: SecondaryMap<Block, IncomingBranches>,
    /// How often the loops around go round together, at most.
    rounds: Vec<u64>,
    /// Where to go when the run is to stop; as on an error if nothing is said.
    halt: Option<Block>,
    /// Results of functions may be kept where the state is constant: it is the same in all of a run.
    keeps_results: bool,
    /// A recursive function is given a reference to an element that it may remove, and cannot
    /// check whether it is still there.
    unchecked: bool,
}

impl<'a, 'm> Translator<'a, 'm> {
    /// Begins a native function whose first parameters are the state and the context.
    fn begin(
        unit: &'a Unit<'m>,
        function: &'a mut Function,
        builders: &'a mut FunctionBuilderContext,
        memory: Memory,
    ) -> Self {
        let mut builder = FunctionBuilder::new(function, builders);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let (state, context) = (builder.block_params(entry)[0], builder.block_params(entry)[1]);
        let [error, exclude, leave] = [(); 3].map(|()| builder.create_block());
        let exits = Exits { error, exclude, leave, result: None, room: None };
        let scope = Scope::empty();
        Translator {
            unit,
            builder,
            state,
            context,
            scope,
            exits,
            memory,
            shrunk: false,
            ways: SecondaryMap::new(),
            rounds: Vec::new(),
            halt: None,
            keeps_results: false,
            unchecked: false,
        }
    }

    /// Ends the native function; all blocks are filled.
    fn end(mut self) -> Result<MemoryUse, Error> {
        self.builder.seal_all_blocks();
        let instructions = self.builder.func.dfg.num_insts();
        let need = self.memory.need();
        self.builder.finalize(self.unit.isa.frontend_config());
        match instructions > GREATEST_FUNCTION {
            true => Err(Error::TooLarge),
            false if self.unchecked => Err(Error::ElementInRecursion),
            false => need,
        }
    }

    /// A parameter of the native function, whose entry is being filled.
    fn parameter(&self, number: usize) -> Value {
        let entry = self.builder.current_block().expect("the entry is being filled");
        self.builder.block_params(entry)[number]
    }

    fn model(&self) -> &'m Model {
        self.unit.model
    }

    fn layout(&self) -> &'m Layout {
        self.unit.layout
    }

    fn block(&mut self) -> Block {
        self.builder.create_block()
    }

    fn cold_block(&mut self) -> Block {
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        block
    }

    /// Goes on in a block that nothing branches to any more after this.
    fn enter(&mut self, block: Block) {
        let mut stages = std::mem::take(&mut self.ways[block].stages);
        while let Some(stage) = stages.pop() {
            self.builder.switch_to_block(stage);
            self.builder.seal_block(stage);
            let next = stages.last().copied().unwrap_or(block);
            let handed_on: Vec<BlockArg> =
                self.builder.block_params(stage).iter().map(|&value| value.into()).collect();
            self.builder.ins().jump(next, &handed_on);
        }
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// Where to branch to get to a block, which takes a parameter of this type, if any.
    fn way_to(&mut self, block: Block, parameter: Option<Type>) -> Block {
        let way = &mut self.ways[block];
        way.branches += 1;
        if way.branches > MANY_BRANCHES {
            let stage = self.builder.create_block();
            if self.builder.func.layout.is_cold(block) {
                self.builder.set_cold_block(stage);
            }
            if let Some(ty) = parameter {
                self.builder.append_block_param(stage, ty);
            }
            way.branches = 1;
            way.stages.push(stage);
        }
        way.stages.last().copied().unwrap_or(block)
    }

    fn jump(&mut self, block: Block) {
        let block = self.way_to(block, None);
        self.builder.ins().jump(block, &[]);
    }

    fn jump_with(&mut self, block: Block, value: Value) {
        let block = self.way_to(block, Some(self.builder.func.dfg.value_type(value)));
        self.builder.ins().jump(block, &[value.into()]);
    }

    fn choose(&mut self, condition: Value, yes: Block, no: Block) {
        let (yes, no) = (self.way_to(yes, None), self.way_to(no, None));
        self.builder.ins().brif(condition, yes, &[], no, &[]);
    }

    /// Leaves with a run-time error if the condition holds.
    fn fail_if(&mut self, condition: Value) {
        let next = self.block();
        self.choose(condition, self.exits.error, next);
        self.enter(next);
    }

    /// Leaves with a run-time error unless the condition holds.
    fn fail_unless(&mut self, condition: Value) {
        let next = self.block();
        self.choose(condition, next, self.exits.error);
        self.enter(next);
    }

    /// Leaves with a run-time error; what is translated next is not reached.
    fn fail(&mut self) {
        self.jump(self.exits.error);
        let next = self.block();
        self.enter(next);
    }

    /// Leaves if the run is to stop.
    fn leave_if_stopped(&mut self) {
        let at = std::mem::offset_of!(Context, stop) as i32;
        let flag = self.builder.ins().load(types::I64, memory::plain(), self.context, at);
        let stop = self.builder.ins().atomic_load(types::I8, MemFlagsData::trusted(), flag);
        let next = self.block();
        self.choose(stop, self.halt.unwrap_or(self.exits.error), next);
        self.enter(next);
    }

    fn constant(&mut self, value: i64) -> Value {
        self.builder.ins().iconst(types::I64, value)
    }

    fn is_zero(&mut self, value: Value) -> Value {
        self.builder.ins().icmp_imm_s(IntCC::Equal, value, 0)
    }

    /// The native function with this number, to be called.
    fn native_callee(&mut self, signature: Signature, number: u32) -> FuncRef {
        let signature = self.builder.import_signature(signature);
        let name = UserExternalName::new(0, number);
        let name = self.builder.func.declare_imported_user_function(name);
        let name = ExternalName::user(name);
        let data = ExtFuncData { name, signature, colocated: false, patchable: false };
        self.builder.import_function(data)
    }

    /// Calls a function of the host with 64-bit parameters.
    fn call_host(&mut self, address: usize, arguments: &[Value], results: usize) -> Option<Value> {
        let mut signature = Signature::new(self.unit.isa.default_call_conv());
        signature.params.resize(arguments.len(), AbiParam::new(types::I64));
        signature.returns.resize(results, AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let callee = self.constant(address as i64);
        let call = self.builder.ins().call_indirect(signature, callee, arguments);
        self.builder.inst_results(call).first().copied()
    }
}

/// A new native function with this signature.
fn new_function(signature: Signature) -> Function {
    Function::with_name_signature(UserFuncName::default(), signature)
}
