"""Templates that try to escape or to exhaust, and a program that tries them all and tells what each
cost.
"""

import json
import os
import resource
from collections.abc import Callable
from functools import partial
from typing import TypedDict

from lakebed.errors import BadPipeline
from lakebed.templates import render
from tests.templates.examples import WHERE, values

MEGABYTE = 1_048_576


class Attempt(TypedDict):
    outcome: str
    seconds: float
    megabytes: float


def _filled(piece: str, *, before: str = "", after: str = "") -> str:
    return before + piece * ((MEGABYTE - len(before) - len(after)) // len(piece)) + after


_GROW = (
    "{% set ns = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{%"
    " endfor %}"
)

ESCAPES = {
    "class of a string": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "class by subscript": "{{ ''['__class__'] }}",
    "class by attr": "{{ ''|attr('__class__') }}",
    "class by attr in map": "{{ ['']|map(attribute='__class__')|list }}",
    "class by groupby": "{{ ['']|groupby('__class__')|list }}",
    "class by format": "{{ '{0.__class__}'.format('') }}",
    "class by format_map": "{{ '{a.__class__}'.format_map({'a': 1}) }}",
    "format taken by attr": "{{ ('{0.__class__}'|attr('format'))('') }}",
    "globals of our function": "{{ ref.__globals__ }}",
    "globals of a bound method": "{{ config.get.__self__.__class__ }}",
    "globals of a macro": "{% macro m() %}{% endmacro %}{{ m.__init__.__globals__ }}",
    "globals of cycler": "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "globals of joiner": "{{ joiner.__init__.__globals__ }}",
    "globals of namespace": "{{ namespace.__init__.__globals__ }}",
    "environment of loop": "{% for x in [1] %}{{ loop._iterator.__class__ }}{% endfor %}",
    "frame of a generator": "{{ ([1]|map('upper')).gi_frame }}",
    "mro of dict": "{{ dict.mro() }}",
    "context of self": "{{ self._TemplateReference__context }}",
    "raw text of the watermark": "{{ watermark_value._raw }}",
    "change of config": "{{ config.update({'a': 1}) }}",
    "change of a list": "{% set x = [] %}{{ x.append(1) }}",
    "another file": "{% include '/etc/passwd' %}",
    "another module": "{% import 'os' as os %}{{ os.environ }}",
    "another template": "{% extends '/etc/passwd' %}",
}

BOMBS = {
    "endless range": "{% for i in range(10**9) %}x{% endfor %}",
    "nested loops": (
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    ),
    "sum of products": (
        "{% set ns = namespace(n=1) %}{% for i in range(9999) %}{% set ns.n = ns.n * 3 ** 9999 %}{%"
        " endfor %}"
    ),
    "long string": "{{ 'a' * 10**9 }}",
    "long string kept": "{% set x = 'a' * 10**9 %}",
    "long list": "{{ ([0] * 10**9)|length }}",
    "doubling": "{% set x = 'aaaaaaaa' %}" + "{% set x = x ~ x %}" * 40,
    "doubling in a loop": _GROW,
    "doubling of lists": "{% set x = [1] %}" + "{% set x = x + x %}" * 40,
    "nested lists shown": "{% set x = [1] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}",
    "doubling by join": "{% set x = 'aaaaaaaa' %}" + "{% set x = [x, x]|join %}" * 40,
    "doubling by replace": (
        "{% set x = 'aaaaaaaa' %}" + "{% set x = x|replace('a', 'aaaaaaaa') %}" * 14
    ),
    "wide number": "{{ '%1000000000d'|format(1) }}",
    "wide number by operator": "{{ '%1000000000d' % 1 }}",
    "wide number by format": "{{ '{:1000000000}'.format(1) }}",
    "padding": "{{ 'x'.ljust(10**9) }}",
    "centring": "{{ 'x'|center(10**9) }}",
    "indenting": "{{ ('x\n' * 100000)|indent(100000) }}",
    "zeros": "{{ 'x'.zfill(10**9) }}",
    "tabs": "{{ '\\t'.expandtabs(10**9) }}",
    "translation": "{{ ('a' * 10**6).translate({97: 'b' * 10**6}) }}",
    "huge power": "{{ 9 ** (9 ** 9) }}",
    "huge power of floats": "{{ 1e308 * 10 ** 400 }}",
    "slow words": "{{ lipsum(10**6) }}",
    "macro that calls itself": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "macro that calls itself twice": (
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}"
    ),
    "recursive loop": "{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "cycler": (
        "{% set c = cycler('a' * 1000) %}{% for i in range(99999) %}{{ c.next() }}{% endfor %}"
    ),
    "batch": "{{ [1]|batch(10**9, 0)|list }}",
    "sorting": "{% for i in range(999) %}{{ range(99999)|sort|length }}{% endfor %}",
    "much output": "{% for i in range(99999) %}" + "x" * 999 + "{% endfor %}",
    "caller": (
        "{% macro m() %}{{ caller() }}{{ caller() }}{% endmacro %}"
        + "{% call m() %}" * 30
        + "x"
        + "{% endcall %}" * 30
    ),
}

SOURCES = {
    "many parentheses": "{{ " + "(" * 100_000,
    "balanced parentheses": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
    "many brackets": "{{ " + "[" * 5_000 + "]" * 5_000 + " }}",
    "many nots": _filled("not ", before="{{ ", after="this }}"),
    "many minuses": _filled("-", before="{{ ", after="1 }}"),
    "many sums": _filled("1+", before="{{ ", after="1 }}"),
    "many blocks": _filled("{% if this %}"),
    "blocks within blocks": "{% if this %}" * 2_000 + "{% endif %}" * 2_000,
    "loops within loops": "{% for x in [1] %}" * 300 + "{% endfor %}" * 300,
    "many values": _filled("{{ this }}"),
    "many comments": _filled("{##}"),
    "many raw blocks": _filled("{%raw%}{%endraw%}"),
    "many strings": _filled("'a' ", before="{{ ", after="}}"),
    "many attributes": _filled(".a", before="{{ this", after="}}"),
    "a long number": _filled("1", before="{{ ", after="}}"),
    "a long number of underscores": _filled("1_", before="{{ ", after="1}}"),
    "a long hexadecimal number": _filled("f", before="{{ 0x", after="}}"),
    "an open string": _filled("\\'", before="{{ '"),
    "a long file": "x" * (MEGABYTE + 1),
}

ATTACKS = {**ESCAPES, **BOMBS, **SOURCES}


def attempt(source: str) -> Attempt:
    """What became of an attack, and what it cost here and in a child together.

    Seconds are those of the processor: on an idle machine as many as on the wall, on a busy one
    still the same.
    """
    grown, spent = _greatest_memory(), _processor_time()
    try:
        outcome = f"rendered: {render(source, values(), where=WHERE).text[:100]!r}"
    except BadPipeline as error:
        outcome = f"refused: {error.what[:300]}"
    return Attempt(
        outcome=outcome,
        seconds=_processor_time() - spent,
        megabytes=(_greatest_memory() - grown) / 1024,
    )


def _greatest_memory() -> int:
    return sum(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )


def _processor_time() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _tell(name: str, source: str) -> None:
    line = json.dumps({"name": name, **attempt(source)}) + "\n"
    os.write(1, line.encode())  # one write, so that lanes do not mix


def _in_own_process(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    return pid


def _lane(attacks: list[tuple[str, str]]) -> None:
    """Each in a process of its own, since the greatest memory of a process is known only for its
    whole life.
    """
    for name, source in attacks:
        os.waitpid(_in_own_process(partial(_tell, name, source)), 0)


def main() -> None:
    """Try every attack, two at a time."""
    render("{{ this }}", values(), where=WHERE)
    attacks = list(ATTACKS.items())
    for pid in [_in_own_process(partial(_lane, attacks[lane::2])) for lane in (0, 1)]:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
