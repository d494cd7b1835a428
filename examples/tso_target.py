#!/usr/bin/env python3
"""A target for `tribunal run --on "exec:python3 examples/tso_target.py"`: a tiny simulator of TSO.

It reads one line of JSON from standard input, {"tribunal": 1, "runs": N, "seed": S, "program": …},
runs the program N times with a random scheduler, and prints a trace of each run: what every load
returned, and `check` at the end. docs/targets.md describes both formats.
"""

import json
import random
import sys


def written(op, read):
    """What an instruction writes if it reads this; None if nothing."""
    if op["op"] in ("write", "swap"):
        return op["value"]
    if op["op"] == "add":
        return (read + op["amount"]) % 2**64
    if op["op"] == "cas" and read == op["expected"]:
        return op["value"]
    return None


def run(program, rng):
    """One run: for every thread, what each of its instructions read (None where it does not)."""
    memory = {place["addr"]: place["initial"] for place in program["places"]}
    threads = program["threads"]
    buffers = [[] for _ in threads]
    reads = [[] for _ in threads]

    def drain(t):
        addr, value = buffers[t].pop(0)
        memory[addr] = value

    def step(t):
        op = threads[t][len(reads[t])]
        kind = op["op"]
        if kind == "write":
            buffers[t].append((op["addr"], op["value"]))
            reads[t].append(None)
        elif kind == "read":
            own = [value for addr, value in buffers[t] if addr == op["addr"]]
            reads[t].append(own[-1] if own else memory[op["addr"]])
        else:  # fences and atomics wait for the buffer to drain
            while buffers[t]:
                drain(t)
            read = memory[op["addr"]] if kind != "fence" else None
            if kind != "fence" and written(op, read) is not None:
                memory[op["addr"]] = written(op, read)
            reads[t].append(read)

    while True:
        can_step = [t for t in range(len(threads)) if len(reads[t]) < len(threads[t])]
        can_drain = [t for t in range(len(threads)) if buffers[t]]
        if not can_step and not can_drain:
            return reads
        if can_step and (not can_drain or rng.random() < 0.7):
            step(rng.choice(can_step))
        else:
            drain(rng.choice(can_drain))


def print_trace(program, reads):
    for place in program["places"]:
        if place["initial"] != 0:
            print(f"init M[{place['addr']}] == {place['initial']}")
    for t, ops in enumerate(program["threads"]):
        needed = {dep for op in ops for dep in op.get("deps", [])}
        for i, (op, read) in enumerate(zip(ops, reads[t])):
            value = written(op, read)
            if op["op"] == "fence":
                line = f"fence {op['before'] or '-'},{op['after'] or '-'}"
            elif read is None:
                line = f"M[{op['addr']}] := {value}"
            elif value is None:
                line = f"M[{op['addr']}] == {read}"
            else:
                line = f"<M[{op['addr']}] == {read}; M[{op['addr']}] := {value}>"
            name = f" as t{t}i{i}" if i in needed else ""
            deps = ",".join(f"t{t}i{dep}" for dep in op.get("deps", []))
            print(f"{t}: {line}{name}{' dep ' + deps if deps else ''}")
    print("check")


def main():
    order = json.loads(sys.stdin.readline())
    rng = random.Random(order["seed"])
    for _ in range(order["runs"]):
        print_trace(order["program"], run(order["program"], rng))


if __name__ == "__main__":
    main()
