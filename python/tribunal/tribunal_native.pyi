"""The native half of the package; use `tribunal` instead. Verdicts and sessions are capsules here."""

from collections.abc import Callable
from typing import Any

__version__: str

class InputError(ValueError):
    file: str
    line: int
    column: int

class Misuse(ValueError): ...
class Interrupted(KeyboardInterrupt): ...

def check(
    data: bytes,
    name: str,
    format: str,
    models: list[str],
    engine: str,
    seconds: float | None,
    memory: int | None,
    thin_air: str,
    /,
) -> list[Any]: ...
def check_columns(
    threads: Any,
    kinds: Any,
    addresses: Any,
    values: Any,
    written: Any | None,
    models: list[str],
    engine: str,
    seconds: float | None,
    memory: int | None,
    thin_air: str,
    /,
) -> list[Any]: ...
def shrink(
    data: bytes,
    name: str,
    format: str,
    model: str,
    seconds: float | None,
    memory: int | None,
    thin_air: str,
    /,
) -> str | None: ...
def certify(
    data: bytes, name: str, format: str, certificate: str, thin_air: str, /
) -> list[tuple[int, str, str | None]]: ...
def verdict_name(verdict: Any, /) -> str: ...
def verdict_json(verdict: Any, /) -> str: ...
def verdict_line(verdict: Any, /) -> str: ...
def verdict_certificate(verdict: Any, /) -> str | None: ...
def verdict_explanation(verdict: Any, /) -> str: ...
def verdict_svg(verdict: Any, /) -> str | None: ...
def verdict_page(verdict: Any, /) -> str | None: ...
def session_open(
    model: str, threads: int, value_bits: int, seconds: float | None, memory: int | None, /
) -> Any: ...
def session_initial(session: Any, address: int, value: int, /) -> None: ...
def session_load(session: Any, thread: int, address: int, value: int, time: int, /) -> str: ...
def session_store(session: Any, thread: int, address: int, value: int, time: int, /) -> str: ...
def session_atomic(
    session: Any, thread: int, address: int, read: int, written: int, time: int, /
) -> str: ...
def session_fence(session: Any, thread: int, before: str, after: str, time: int, /) -> str: ...
def session_ask(session: Any, /) -> str: ...
def session_finish(session: Any, /) -> str: ...
def session_status(session: Any, /) -> str: ...
def session_events(session: Any, /) -> int: ...
def session_explanation(session: Any, /) -> str: ...
def explore(
    text: str,
    name: str,
    constants: dict[str, str],
    seconds: float | None,
    memory: int | None,
    jobs: int | None,
    /,
) -> str: ...
def verify(
    text: str,
    name: str,
    model: str | None,
    any_processors: bool,
    constants: dict[str, str],
    seconds: float | None,
    /,
) -> str: ...
def litmus(text: str, name: str, models: list[str], seconds: float | None, /) -> list[str]: ...
def hunt(
    call: Callable[[str], bytes],
    model: str,
    tests: int,
    seed: int,
    threads: int,
    atomics: bool,
    runs: int,
    first: bool,
    /,
) -> list[tuple[str, str, str, str, str]]: ...
