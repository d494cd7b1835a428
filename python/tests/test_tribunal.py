"""What the package promises: the same answers as the command, errors with places, no crash."""

import ast
import doctest
import html
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import tribunal
from tribunal import ATOMIC, FENCE, LOAD, STORE, Columns

ROOT = pathlib.Path(__file__).parents[2]
SB = tribunal.STORE_BUFFERING


def test_a_violation_has_a_cycle_an_explanation_a_picture_and_a_certificate():
    verdict = tribunal.check(SB)
    assert (verdict.verdict, verdict.model, verdict.events, bool(verdict)) == ("violation", "sc", 4, False)
    assert len(verdict.cycle) == 4
    assert "There is a cycle" in verdict.explain()
    assert verdict.svg().startswith("<svg")
    assert tribunal.certify(SB, verdict.certificate) == [(1, "sc", None)]
    other = SB.replace("M[y] == 0", "M[y] == 1")
    assert tribunal.certify(other, verdict.certificate)[0].rejected is not None


def test_a_consistent_trace_has_a_witness_that_the_kernel_takes():
    verdict = tribunal.check(SB, model="TSO")
    assert verdict and verdict.cycle == [] and verdict.svg() is None
    assert tribunal.certify(SB, verdict.certificate) == [(1, "tso", None)]


def test_a_notebook_shows_the_page_in_a_frame_and_a_large_one_as_a_picture(tmp_path, monkeypatch):
    verdict = tribunal.check(SB)
    shown = verdict._repr_html_()
    # All of the page is in an attribute: nothing of it is markup of the notebook.
    assert shown.startswith("<iframe ") and shown.count("<") == 2 and shown.endswith("></iframe>")
    assert "violation" in shown and 'sandbox="allow-scripts allow-downloads"' in shown
    page = verdict.html()
    assert html.unescape(shown.split('srcdoc="')[1].removesuffix('"></iframe>')) == page
    verdict.save(tmp_path / "why.html")
    assert (tmp_path / "why.html").read_text() == page and page.startswith("<!doctype html>")
    assert "consistent" in tribunal.check(SB, "tso")._repr_html_()
    monkeypatch.setattr(tribunal, "LARGEST_FRAME", 100)
    assert "<svg" in verdict._repr_html_() and ".save(path)" in verdict._repr_html_()
    undecided = tribunal.check(SB, engine="recorded")
    assert undecided.html() is None and "undecided" in undecided._repr_html_()
    with pytest.raises(ValueError, match="undecided"):
        undecided.save(tmp_path / "nothing.html")
    assert not (tmp_path / "nothing.html").exists()


def test_the_examples_in_the_docstrings():
    failed, tried = doctest.testmod(tribunal, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    assert tried > 15 and failed == 0


def test_the_readme_runs():
    text = (ROOT / "python/README.md").read_text()
    blocks = text.split("```python\n")[1:]
    names: dict = {}
    for block in blocks:
        code = block.split("```")[0].replace('"why.html"', "__import__('os').devnull")
        exec(compile(code, "README.md", "exec"), names)
    assert len(blocks) == 2


def test_the_notebook_runs_under_nbconvert(tmp_path):
    pytest.importorskip("nbconvert")
    pytest.importorskip("ipykernel")
    notebook = ROOT / "python/examples/store_buffering.ipynb"
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", "--output-dir", str(tmp_path), str(notebook)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    shown = (tmp_path / "store_buffering.html").read_text()
    assert "srcdoc=" in shown and "violation" in shown and "There is a cycle" in shown


@pytest.mark.parametrize("model", ["rvwmo", "x86", str(ROOT / "models/sc.cat")])
def test_models_from_files(model):
    verdict = tribunal.check(SB, model=model)
    assert verdict.verdict == ("violation" if model.endswith("sc.cat") else "consistent")


def test_undecided_says_why():
    verdict = tribunal.check(SB, engine="recorded")
    assert verdict.verdict == "undecided" and verdict.report["reason"] and verdict.certificate is None
    assert verdict.explain()


def test_events_as_dicts_iterators_paths_and_columns_are_the_same_trace(tmp_path):
    events = [
        {"thread": 0, "op": "write", "addr": 16, "value": 1},
        {"thread": 0, "op": "fence", "before": "rw", "after": "rw"},
        {"thread": 1, "op": "rmw", "addr": 16, "read": 1, "value": 2},
        {"thread": 0, "op": "read", "addr": 16, "value": 1},
        {"thread": 0, "op": "read", "addr": 16, "value": 2},
    ]
    numpy = pytest.importorskip("numpy")
    columns = Columns(
        threads=numpy.array([0, 0, 1, 0, 0]),
        kinds=numpy.array([STORE, FENCE, ATOMIC, LOAD, LOAD]),
        addresses=numpy.array([16, 0, 16, 16, 16]),
        values=numpy.array([1, 0, 1, 1, 2], dtype=numpy.int32),
        written=numpy.array([0, 0, 2, 0, 0]),
    )
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(map(json.dumps, events)))
    for trace in [events, iter(events), path, columns]:
        assert tribunal.check(trace).verdict == "consistent"
    events[3], events[4] = events[4], events[3]
    flipped = columns._replace(values=numpy.array([1, 0, 1, 2, 1]))
    for trace in [events, flipped]:
        assert tribunal.check(trace).verdict == "violation"


def test_columns_that_make_no_sense_are_refused():
    numpy = pytest.importorskip("numpy")
    good = Columns(*(numpy.array(c) for c in ([0, 1], [STORE, LOAD], [1, 1], [1, 1])))
    assert tribunal.check(good)
    for wrong, sentence in [
        (good._replace(threads=numpy.array([0])), "rows"),
        (good._replace(kinds=numpy.array([STORE, 9])), "row 1: kind 9"),
        (good._replace(kinds=numpy.array([STORE, ATOMIC])), "written"),
        (good._replace(values=numpy.array([1, -1])), "negative"),
        (good._replace(values=numpy.array([1.0, 1.0])), "whole numbers"),
        (good._replace(values=numpy.array([[1, 1]])), "dimensions"),
        (good._replace(values=numpy.array([1, 7])), "row 1"),
        (Columns(*(numpy.array([], dtype=int) for _ in range(4))), "no events"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            tribunal.check(wrong)


def test_errors_have_a_place():
    with pytest.raises(tribunal.InputError) as error:
        tribunal.check("0: M[x] := 1\n0: M[x] nonsense\n")
    assert (error.value.line, error.value.file) == (2, "<trace>") and error.value.column > 1
    assert "^" in str(error.value)
    with pytest.raises(tribunal.InputError) as error:
        tribunal.explore("var x: bool;\n")
    assert (error.value.line, error.value.column) == (1, 8)
    with pytest.raises(tribunal.InputError):
        tribunal.litmus("X86 nothing\n")
    for call in [
        lambda: tribunal.check(SB, model="nonsense"),
        lambda: tribunal.check(SB, engine="nonsense"),
        lambda: tribunal.check(SB + "check\n" + SB),
        lambda: tribunal.check(""),
        lambda: tribunal.check(SB, seconds=-1),
        lambda: tribunal.check(SB, thin_air="nonsense"),
    ]:
        with pytest.raises(ValueError):
            call()
    assert len(tribunal.check_all(SB + "check\n" + SB)) == 2


def test_shrink():
    trace = SB + "".join(f"2: M[z] := {value}\n" for value in range(1, 20))
    assert tribunal.check(tribunal.shrink(trace)).events == 4
    assert tribunal.shrink(trace, "tso") is None


def test_a_session_finds_a_violation_with_its_times():
    session = tribunal.Session("tso", threads=2)
    assert session.store(0, 0x10, 1, time=100) == "consistent"
    session.store(0, 0x18, 1, time=110)
    session.load(1, 0x18, 1, time=120)
    session.load(1, 0x10, 0, time=130)
    assert session.ask() == session.status == session.finish() == "violation"
    assert session.events == 4 and "time 130" in session.explain()
    with pytest.raises(tribunal.Misuse, match="finished"):
        session.load(0, 0x10, 1)


def test_calls_of_a_session_that_make_no_sense_are_exceptions():
    session = tribunal.Session("sc", threads=2, value_bits=8)
    for call, sentence in [
        (lambda: session.load(2, 0, 0), "never declared"),
        (lambda: session.store(0, 0, 256), "does not fit"),
        (lambda: session.fence(0, "x"), "orders"),
        (lambda: tribunal.Session("sc", threads=0), "declare"),
        (lambda: tribunal.Session("rvwmo", threads=1), "built-in"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            call()
    with pytest.raises(OverflowError):
        session.load(-1, 0, 0)
    session.initial(4, 7)
    session.load(0, 4, 7)
    with pytest.raises(tribunal.Misuse, match="already"):
        session.initial(4, 8)
    assert session.finish() == "consistent"


def test_protocols():
    found = tribunal.explore(ROOT / "protocols/mi.m", {"ProcessorCount": 2})
    assert found["verdict"] == "verified" and found["states"] > 1
    assert tribunal.explore(ROOT / "protocols/mi.m", seconds=0)["verdict"] in ("undecided", "verified")
    assert tribunal.verify(ROOT / "protocols/mi.m", "sc")["verdict"] == "verified"
    with pytest.raises(ValueError, match="sc or tso"):
        tribunal.verify(ROOT / "protocols/mi.m", "pso")


def test_a_protocol_is_verified_for_any_number_of_processors():
    found = tribunal.verify(ROOT / "protocols/german.m", any_processors=True)
    assert found["verdict"] == "verified", found
    broken = ROOT / "protocols/broken/german-grants-before-acks.m"
    assert tribunal.verify(broken, any_processors=True)["verdict"] == "violation"


def test_other_threads_run_while_an_engine_works():
    took = []

    def work():
        begun = time.monotonic()
        tribunal.explore(ROOT / "protocols/peterson.m", {"N": 5}, jobs=1)
        took.append(time.monotonic() - begun)

    worker = threading.Thread(target=work)
    worker.start()
    longest, last = 0.0, time.monotonic()
    while worker.is_alive():
        time.sleep(0.001)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    # With the lock held, this thread would have waited all the time.
    assert longest < took[0] / 2, (longest, took)


def test_the_stubs_have_what_the_native_half_has():
    stubs = ast.parse((ROOT / "python/tribunal/tribunal_native.pyi").read_text())
    named = {node.name for node in stubs.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert named == {name for name in dir(tribunal._native) if not name.startswith("__")}
    for node in stubs.body:
        if isinstance(node, ast.FunctionDef):
            # A call with one argument too many says how many there may be.
            with pytest.raises(ValueError, match=f"length {len(node.args.posonlyargs)}, but"):
                getattr(tribunal._native, node.name)(*[None] * (len(node.args.posonlyargs) + 1))


def test_litmus():
    test = (
        "X86 SB\n{ x=0; y=0; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n"
        " MOV EAX,[y] | MOV EAX,[x] ;\nexists (0:EAX=0 /\\ 1:EAX=0)\n"
    )
    sc, tso = tribunal.litmus(test, ["sc", "tso"])
    assert (len(sc["states"]), len(tso["states"])) == (3, 4)


def simulated(order, lose=0.0):
    """Runs a test by taking instructions of its threads at random; a store may be lost."""
    rng = random.Random(order["seed"])
    program = order["program"]
    events = []
    for _ in range(order["runs"]):
        memory = {place["addr"]: place["initial"] for place in program["places"]}
        left = [list(thread) for thread in program["threads"]]
        while any(left):
            thread = rng.choice([t for t, ops in enumerate(left) if ops])
            op = left[thread].pop(0)
            event = {"thread": thread, "op": op["op"]}
            if op["op"] == "fence":
                event |= {"before": op["before"], "after": op["after"]}
            elif op["op"] == "write":
                event |= {"addr": op["addr"], "value": op["value"]}
                if rng.random() >= lose:
                    memory[op["addr"]] = op["value"]
            else:
                event |= {"addr": op["addr"], "value": memory[op["addr"]]}
            events.append(event)
        events.append({"op": "end"})
    return events


def test_a_hunt_finds_stores_that_are_lost_and_nothing_else():
    assert tribunal.hunt(simulated, "sc", tests=30, runs=3, atomics=False) == []
    found = tribunal.hunt(lambda order: simulated(order, 0.2), "sc", tests=30, runs=3, atomics=False)
    assert found and all(tribunal.check(one.trace, thin_air="violation").verdict == "violation" for one in found)
    assert "There is a cycle" in found[0].why and found[0].program
    first = tribunal.hunt(lambda order: simulated(order, 0.2), "sc", tests=30, runs=3, atomics=False, first=True)
    assert len(first) == 1


def test_what_a_target_raises_ends_the_hunt():
    def target(order):
        raise RuntimeError("the simulator is gone")

    with pytest.raises(RuntimeError, match="the simulator is gone"):
        tribunal.hunt(target, "sc", tests=3)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_long_question():
    program = (
        "import tribunal, random, signal\n"
        # What runs in the background of a shell ignores the signal, and its children with it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "rng = random.Random(1)\n"
        "events = [f'{rng.randrange(8)}: M[{rng.randrange(2)}] := {rng.randrange(2)}' for _ in range(3000)]\n"
        "events = [e if rng.random() < .5 else e.replace(':=', '==') for e in events]\n"
        "print('go', flush=True)\n"
        "tribunal.check('\\n'.join(events), engine='sat', thin_air='violation')\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout.readline() == b"go\n"
    time.sleep(0.5)
    if child.poll() is not None:
        pytest.skip("the question was answered before it could be interrupted")
    child.send_signal(signal.SIGINT)
    try:
        _, stderr = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode != 0 and b"Interrupt" in stderr


def test_the_version_is_that_of_the_library():
    text = (ROOT / "Cargo.toml").read_text()
    assert f'version = "{tribunal.__version__}"' in text
