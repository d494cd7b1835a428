"""Does a shared memory keep its consistency model?

>>> import tribunal
>>> verdict = tribunal.check('''
... 0: M[x] := 1
... 0: M[y] == 0
... 1: M[y] := 1
... 1: M[x] == 0
... ''', model="sc")
>>> verdict.verdict
'violation'
>>> [edge["because"] for edge in verdict.cycle]
['program-order', 'from-read', 'program-order', 'from-read']
>>> tribunal.certify(STORE_BUFFERING, verdict.certificate)
[Certified(trace=1, model='sc', rejected=None)]

A trace is text in Tribunal's format, a path, an iterable of dicts (the fields of JSON Lines), or
`Columns` of numbers. The GIL is released while the engines work, and Ctrl-C ends them.
"""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Union

from . import tribunal_native as _native
from .tribunal_native import InputError, Interrupted, Misuse, __version__

__all__ = [
    "Certified",
    "Columns",
    "Finding",
    "InputError",
    "Interrupted",
    "Misuse",
    "Session",
    "Verdict",
    "certify",
    "check",
    "check_all",
    "explore",
    "hunt",
    "litmus",
    "shrink",
    "verify",
    "__version__",
]

#: Both threads write one variable and read the other, and both reads return the old value.
STORE_BUFFERING = "0: M[x] := 1\n0: M[y] == 0\n1: M[y] := 1\n1: M[x] == 0\n"

LOAD, STORE, ATOMIC, FENCE = 0, 1, 2, 3

#: A notebook shows pages of up to so many characters: traces of some 20,000 events.
LARGEST_FRAME = 1_000_000


class Columns(NamedTuple):
    """One trace as columns of equal length, an event a row: numpy arrays, or anything with a buffer.

    `kinds` are LOAD, STORE, ATOMIC or FENCE; `values` are what loads and atomics read and stores
    write; `written` is what atomics write, and may be left out if there are none. No Python object
    is made for an event.

    >>> import array
    >>> check(Columns(threads=array.array("Q", [0, 1, 1]), kinds=array.array("B", [STORE, LOAD, LOAD]),
    ...               addresses=array.array("Q", [16, 16, 16]), values=array.array("Q", [1, 1, 0]))).verdict
    'violation'
    """

    threads: Any
    kinds: Any
    addresses: Any
    values: Any
    written: Any = None


Trace = Union[str, os.PathLike, Iterable[Mapping[str, Any]], Columns]


class Certified(NamedTuple):
    """The result of checking one line of a certificate; `rejected` is None if the line holds."""

    trace: int
    model: str
    rejected: str | None


class Finding(NamedTuple):
    """A finding of a hunt: the test, the few events that violate the model, and why they do."""

    name: str
    shape: str
    program: str
    trace: str
    why: str


class Verdict:
    """The answer about one trace and one model.

    >>> verdict = check(STORE_BUFFERING, model="tso")
    >>> verdict.verdict, bool(verdict), verdict.cycle
    ('consistent', True, [])
    """

    def __init__(self, native: Any) -> None:
        self._native = native
        self._report: dict[str, Any] | None = None

    @property
    def verdict(self) -> str:
        """"consistent", "violation" or "undecided"."""
        return _native.verdict_name(self._native)

    @property
    def model(self) -> str:
        """The model, as it was given."""
        return self.report["model"]

    @property
    def events(self) -> int:
        """How many events the trace has."""
        return self.report["events"]

    @property
    def report(self) -> dict[str, Any]:
        """The object that `tribunal check --json --stats=full` prints."""
        if self._report is None:
            self._report = json.loads(_native.verdict_json(self._native))
        return self._report

    @property
    def cycle(self) -> list[dict[str, Any]]:
        """The edges of the cycle that shows a violation, as in the JSON of the command."""
        return self.report.get("cycle", [])

    @property
    def certificate(self) -> str | None:
        """The evidence for `certify`, as JSON Lines; None if nothing was decided."""
        return _native.verdict_certificate(self._native)

    def explain(self) -> str:
        """Why: the events that matter and the argument; or why the trace is undecided.

        >>> print(check(STORE_BUFFERING).explain().splitlines()[0])
        sc: violation of sequential consistency
        """
        return _native.verdict_explanation(self._native)

    def svg(self) -> str | None:
        """The picture of a violation; None if there is none."""
        return _native.verdict_svg(self._native)

    def html(self) -> str | None:
        """The report as one HTML page, as `tribunal explain -o why.html` writes it: the cycle with its
        reasons, or the order that explains the trace, and the whole trace. None if nothing was decided.

        >>> check(STORE_BUFFERING).html().startswith("<!doctype html>")
        True
        """
        return _native.verdict_page(self._native)

    def save(self, path: str | os.PathLike) -> None:
        """Writes the page to a file, for a browser, a colleague or the artifacts of a CI job."""
        page = self.html()
        if page is None:
            raise ValueError(f"there is no page about an undecided trace: {self.explain().strip()}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __bool__(self) -> bool:
        return self.verdict == "consistent"

    def __repr__(self) -> str:
        return f"<Verdict {_native.verdict_line(self._native)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the page, in a frame that may run its script and nothing else.

        Notebooks keep what they show, so a large page is not put into one: its picture is.
        """
        page = self.html()
        if page is not None and len(page) <= LARGEST_FRAME:
            return (
                f'<iframe title="{html.escape(repr(self))}" sandbox="allow-scripts allow-downloads" '
                'style="width:100%;height:640px;border:1px solid #8884;border-radius:4px" '
                f'srcdoc="{html.escape(page)}"></iframe>'
            )
        words = f"<pre>{html.escape(self.explain())}</pre>"
        hint = "" if page is None else "<p>The page is large: <code>.save(path)</code> writes it to a file.</p>"
        return f"<div><b>{html.escape(repr(self))}</b>{hint}{self.svg() or ''}{words}</div>"


class Session:
    """A trace that is checked while it is being recorded, for test benches.

    Report loads, stores, atomics and fences in the order in which they are seen, a store no later than
    the loads that see it. Every call returns how things stand: "consistent", "open" (some of the last
    events are not explained yet), "undecided" or "violation". The simulation time is for explanations
    only. A call that makes no sense raises `Misuse` and changes nothing.

    >>> session = Session("tso", threads=2)
    >>> session.store(0, 0x10, 1, time=100)
    'consistent'
    >>> session.load(1, 0x10, 1, time=110), session.load(1, 0x10, 0, time=120)
    ('consistent', 'violation')
    >>> session.ask()
    'violation'
    >>> "time 120" in session.explain()
    True
    """

    def __init__(
        self,
        model: str,
        threads: int,
        *,
        value_bits: int = 64,
        seconds: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._native = _native.session_open(model, threads, value_bits, seconds, memory)
        self._model = model

    def initial(self, address: int, value: int) -> None:
        """Sets the initial value of an address, before its first access; the default is 0."""
        _native.session_initial(self._native, address, value)

    def load(self, thread: int, address: int, value: int, time: int = 0) -> str:
        """A thread read a value."""
        return _native.session_load(self._native, thread, address, value, time)

    def store(self, thread: int, address: int, value: int, time: int = 0) -> str:
        """A thread wrote a value."""
        return _native.session_store(self._native, thread, address, value, time)

    def atomic(self, thread: int, address: int, read: int, written: int, time: int = 0) -> str:
        """A thread read a value and wrote another one, atomically."""
        return _native.session_atomic(self._native, thread, address, read, written, time)

    def fence(self, thread: int, before: str = "rw", after: str = "rw", time: int = 0) -> str:
        """A fence that keeps accesses "r", "w" or "rw" before others."""
        return _native.session_fence(self._native, thread, before, after, time)

    def ask(self) -> str:
        """The status after a complete check of the events so far."""
        return _native.session_ask(self._native)

    def finish(self) -> str:
        """Ends the trace and returns the verdict. Further calls return the same verdict."""
        return _native.session_finish(self._native)

    def explain(self) -> str:
        """The explanation of the status; for a violation the few events that matter, with their times."""
        return _native.session_explanation(self._native)

    @property
    def status(self) -> str:
        """The status so far, without a further check."""
        return _native.session_status(self._native)

    @property
    def events(self) -> int:
        """The number of events reported so far."""
        return _native.session_events(self._native)

    def __repr__(self) -> str:
        return f"<Session {self._model}: {self.events} events, {self.status}>"


def _numbers(column: Any, name: str) -> Any:
    """A column as unsigned numbers of 64 bits, or of 8 for kinds, without a copy if it is one already."""
    width = "uint8" if name == "kinds" else "uint64"
    if hasattr(column, "__array__"):
        import numpy

        array = numpy.asarray(column)
        if array.ndim != 1:
            raise ValueError(f"{name} has {array.ndim} dimensions; a column has one")
        if array.dtype.kind not in "iub":
            raise ValueError(f"{name} has numbers of type {array.dtype}; whole numbers are needed")
        if array.size and array.dtype.kind == "i" and array.min() < 0:
            raise ValueError(f"{name} has negative numbers")
        if name == "kinds" and array.size and array.max() > 255:
            raise ValueError("kinds are 0 load, 1 store, 2 atomic, 3 fence")
        return numpy.ascontiguousarray(array, dtype=width)
    return column


def _given(trace: Trace, format: str | None) -> tuple[bytes, str, str]:
    """A trace as bytes, with its name and its format."""
    if isinstance(trace, str):
        return trace.encode(), "<trace>", format or "text"
    if isinstance(trace, os.PathLike):
        path = os.fspath(trace)
        with open(path, "rb") as file:
            data = file.read()
        guess = "jsonl" if path.endswith(".jsonl") else "spike" if path.endswith(".log") else "text"
        return data, path, format or guess
    if isinstance(trace, Columns):
        raise ValueError("columns can be checked; for the rest, give text or dicts")
    if isinstance(trace, Mapping):
        raise TypeError("one dict is one event; give a list of them")
    lines = (json.dumps(dict(event)) for event in trace)
    return "\n".join(lines).encode(), "<events>", "jsonl"


def check_all(
    trace: Trace,
    model: str | Iterable[str] = "sc",
    *,
    format: str | None = None,
    engine: str = "auto",
    seconds: float | None = None,
    memory: int | None = None,
    thin_air: str = "malformed",
) -> list[Verdict]:
    """Checks all traces of an input against one model or several: a verdict for each trace and model.

    >>> [v.verdict for v in check_all(STORE_BUFFERING, ["sc", "tso"])]
    ['violation', 'consistent']
    """
    models = [model] if isinstance(model, str) else list(model)
    how = (models, engine, seconds, memory, thin_air)
    if isinstance(trace, Columns):
        columns = [_numbers(getattr(trace, name), name) for name in trace._fields[:4]]
        written = None if trace.written is None else _numbers(trace.written, "written")
        found = _native.check_columns(*columns, written, *how)
    else:
        found = _native.check(*_given(trace, format), *how)
    return [Verdict(one) for one in found]


def check(
    trace: Trace,
    model: str = "sc",
    *,
    format: str | None = None,
    engine: str = "auto",
    seconds: float | None = None,
    memory: int | None = None,
    thin_air: str = "malformed",
) -> Verdict:
    """Checks one trace against one model: a name, or the path of a .cat file.

    >>> check([{"thread": 0, "op": "write", "addr": "x", "value": 1},
    ...        {"thread": 1, "op": "read", "addr": "x", "value": 1}]).verdict
    'consistent'
    >>> check("0: M[x] := nonsense")
    Traceback (most recent call last):
        ...
    tribunal.InputError: ...
    """
    found = check_all(
        trace, model, format=format, engine=engine, seconds=seconds, memory=memory, thin_air=thin_air
    )
    if len(found) != 1:
        raise ValueError(f"there are {len(found)} traces; check_all judges all of them")
    return found[0]


def shrink(
    trace: Trace,
    model: str = "sc",
    *,
    format: str | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    thin_air: str = "malformed",
) -> str | None:
    """A minimal part of the first violating trace, as text; None if no trace violates the model.

    >>> print(shrink(STORE_BUFFERING + "1: M[z] := 5\\n"), end="")
    0: M[x] := 1
    0: M[y] == 0
    1: M[y] := 1
    1: M[x] == 0
    check
    """
    return _native.shrink(*_given(trace, format), model, seconds, memory, thin_air)


def certify(
    trace: Trace, certificate: str, *, format: str | None = None, thin_air: str = "malformed"
) -> list[Certified]:
    """Checks a certificate with the small checker that shares no code with the engines."""
    found = _native.certify(*_given(trace, format), certificate, thin_air)
    return [Certified(*one) for one in found]


def _source(model: str | os.PathLike) -> tuple[str, str]:
    """A text as it is, or what is in a file."""
    if isinstance(model, os.PathLike):
        path = os.fspath(model)
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(), path
    return model, "<text>"


def explore(
    model: str | os.PathLike,
    constants: Mapping[str, Any] | None = None,
    *,
    seconds: float | None = None,
    memory: int | None = None,
    jobs: int | None = None,
) -> dict[str, Any]:
    """Checks every reachable state of a Murphi model, given as text or a path.

    Returns the object that `tribunal explore --json` prints.

    >>> found = explore("var x: 0..3; startstate begin x := 0; end; "
    ...                 "rule x < 3 ==> begin x := x + 1; end; invariant x < 3;")
    >>> found["verdict"], len(found["counterexample"])
    ('violation', 3)
    """
    constants = {name: str(value) for name, value in (constants or {}).items()}
    return json.loads(_native.explore(*_source(model), constants, seconds, memory, jobs))


def verify(
    model: str | os.PathLike,
    memory_model: str | None = None,
    constants: Mapping[str, Any] | None = None,
    *,
    any_processors: bool = False,
    seconds: float | None = None,
) -> dict[str, Any]:
    """Verifies a Murphi protocol against "sc" (the default) or "tso"; with `any_processors` for any
    number of processors, then without `memory_model` its invariants. What `tribunal verify --json` says.
    """
    constants = {name: str(value) for name, value in (constants or {}).items()}
    text, name = _source(model)
    found = _native.verify(text, name, memory_model, any_processors, constants, seconds)
    return json.loads(found)


def litmus(
    test: str | os.PathLike,
    model: str | Iterable[str] | None = None,
    *,
    seconds: float | None = None,
) -> list[dict[str, Any]]:
    """All outcomes of a herdtools litmus test, a text or a path, for each model; without a model, for
    what the architecture promises. What `tribunal litmus --json` says."""
    models = [] if model is None else [model] if isinstance(model, str) else list(model)
    text, name = _source(test)
    return [json.loads(line) for line in _native.litmus(text, name, models, seconds)]


def hunt(
    target: Callable[[dict[str, Any]], Trace],
    model: str,
    *,
    tests: int = 100,
    seed: int = 0,
    threads: int = 2,
    atomics: bool = True,
    runs: int = 1,
    first: bool = False,
) -> list[Finding]:
    """Generates tests, has a callable run them, checks the traces, and shrinks and explains violations.

    The callable gets a test as a dict (docs/targets.md says which) and returns the trace of a run, or
    of several with `{"op": "end"}` between them. What it raises ends the hunt.
    """

    def run(order: str) -> bytes:
        return _given(target(json.loads(order)), None)[0]

    found = _native.hunt(run, model, tests, seed, threads, atomics, runs, first)
    return [Finding(*one) for one in found]
