"""The coherent system under cocotb, judged live by the Python package: random clients for both cores, every
access told to a Session as it ends, and a test that ends at the first violation of TSO. The design as it
should be keeps total store order; each of its two faults is found and explained.

`run` beside this file sets everything up. By hand: python test_coherent.py, with cocotb 1.9, verilator and
the package installed.
"""

import os
import pathlib
import random

import cocotb
from cocotb.clock import Clock
from cocotb.runner import check_results_file, get_runner
from cocotb.triggers import FallingEdge, RisingEdge
from cocotb.utils import get_sim_time

import tribunal

HERE = pathlib.Path(__file__).resolve().parent
LOAD, STORE, SWAP, FENCE = range(4)
ADDRESS_BITS, DATA_BITS = 3, 32
ACCESSES = int(os.environ.get("ACCESSES", "10000"))


class Core:
    """A client: one access under way at a time, every store with a value of its own."""

    def __init__(self, number: int, rng: random.Random) -> None:
        self.number, self.rng = number, rng
        self.busy = False
        self.op = self.addr = self.wdata = 0

    def draw(self, value: int) -> None:
        """The next access, perhaps."""
        self.busy = self.rng.random() < 0.75
        self.op = self.rng.choices((LOAD, STORE, SWAP, FENCE), (48, 42, 7, 3))[0]
        # Mostly two addresses, so that the caches take lines from each other.
        self.addr = self.rng.randrange(2 if self.rng.random() < 0.7 else 1 << ADDRESS_BITS)
        self.wdata = value

    def tell(self, session: tribunal.Session, rdata: int, time: int) -> str:
        """Tells the session what the core has just done."""
        match self.op:
            case 0:
                return session.load(self.number, self.addr, rdata, time)
            case 1:
                return session.store(self.number, self.addr, self.wdata, time)
            case 2:
                return session.atomic(self.number, self.addr, rdata, self.wdata, time)
            case _:
                return session.fence(self.number, time=time)


async def simulate(dut, bug: int, seed: int = 1) -> tribunal.Session:
    """Runs random clients until a violation, or until they have done their accesses."""
    cocotb.start_soon(Clock(dut.clk, 10, units="ns").start())
    dut.bug.value, dut.req.value, dut.rst.value = bug, 0, 1
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    dut.rst.value = 0
    session = tribunal.Session("tso", threads=2, value_bits=DATA_BITS)
    rng = random.Random(seed)
    cores = [Core(0, rng), Core(1, rng)]
    written = finished = 0
    while finished < ACCESSES:
        # What is done in a cycle is known in its middle, and takes effect at its end.
        await FallingEdge(dut.clk)
        done = int(dut.done.value)
        for core in cores:
            if core.busy and done >> core.number & 1:
                rdata = int(dut.rdata.value) >> DATA_BITS * core.number & (1 << DATA_BITS) - 1
                status = core.tell(session, rdata, int(get_sim_time("ns")))
                core.busy = False
                finished += 1
                # Events look for violations at times that cost little; this looks at once.
                if finished % 1000 == 0:
                    status = session.ask()
                if status == "violation":
                    return session
        await RisingEdge(dut.clk)
        for core in cores:
            if not core.busy:
                written += 1
                core.draw(written)
        dut.req.value = sum(core.busy << core.number for core in cores)
        dut.op.value = sum(core.op << 2 * core.number for core in cores)
        dut.addr.value = sum(core.addr << ADDRESS_BITS * core.number for core in cores)
        dut.wdata.value = sum(core.wdata << DATA_BITS * core.number for core in cores)
    session.finish()
    return session


@cocotb.test()
async def the_design_keeps_total_store_order(dut):
    session = await simulate(dut, bug=0)
    dut._log.info("%s after %d events", session.status, session.events)
    assert session.status == "consistent", session.explain()


async def finds(dut, bug: int) -> None:
    session = await simulate(dut, bug)
    assert session.status == "violation", f"fault {bug} was not found in {session.events} events"
    dut._log.info("fault %d: violation after %d events\n%s", bug, session.events, session.explain())


@cocotb.test()
async def a_lost_invalidation_is_found(dut):
    await finds(dut, 1)


@cocotb.test()
async def a_swap_that_overtakes_stores_is_found(dut):
    await finds(dut, 2)


def main() -> None:
    """Builds the design with verilator and runs the tests above in it; an error if one fails."""
    out = pathlib.Path(os.environ.get("COCOTB_OUT", HERE / "sim_build"))
    runner = get_runner("verilator")
    sources = [HERE.parent / "coherent.sv", HERE / "ports.sv"]
    runner.build(verilog_sources=sources, hdl_toplevel="ports", build_dir=out, always=True, log_file=out / "build.log")
    results = runner.test(hdl_toplevel="ports", test_module="test_coherent", test_dir=HERE, results_xml=str(out / "results.xml"))
    check_results_file(results)


if __name__ == "__main__":
    main()
