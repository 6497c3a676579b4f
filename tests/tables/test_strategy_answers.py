"""Strategies answer for themselves: each answers every question, and nobody else goes by names."""

import ast
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

import pytest
from pydantic import TypeAdapter

from lakebed.ports import Field
from lakebed.tables.merging.merge import write_statement
from lakebed.tables.merging.merge_strategy import MergeStrategy
from lakebed.tables.merging.strategies import (
    STRATEGIES,
    TEMPLATE_WORDS,
    OverwriteWhere,
    ReplaceBatch,
    ReplaceRange,
    Strategy,
    template_answers,
)
from tests.test_rooms import ROOT, SOURCES

KINDS: tuple[type[Strategy], ...] = get_args(Strategy)


def strategy(kind: type[Strategy]) -> Strategy:
    """One with as few settings as it takes."""
    needed = {name: field for name, field in kind.model_fields.items() if field.is_required()}
    return kind.model_validate(
        {name: name if field.annotation is str else ("id",) for name, field in needed.items()}
    )


def questions() -> dict[str, Any]:
    """What can be asked, with the type of the answer."""
    variables = {
        name: get_args(hint)[0]
        for name, hint in get_type_hints(MergeStrategy).items()
        if name in MergeStrategy.__annotations__ and get_origin(hint) is ClassVar
    }
    properties = {
        name: get_type_hints(answer.fget)["return"]
        for name, answer in vars(MergeStrategy).items()
        if isinstance(answer, property)
    }
    return variables | properties


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("question", questions())
def test_every_strategy_answers_every_question(kind: type[Strategy], question: str) -> None:
    answer = getattr(strategy(kind), question)
    assert TypeAdapter(questions()[question]).validate_python(answer) == answer


def test_the_questions_are_those_that_callers_ask() -> None:
    assert {"sentence", "staged", "rebuilds_all", "history", "own_columns"} <= questions().keys()
    assert {"template_word", "allows_one_pass", "only_adds", "condition"} <= questions().keys()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_answers_agree_with_each_other(kind: type[Strategy]) -> None:
    own = strategy(kind)
    assert bool(own.history) == bool(own.own_columns)
    assert own.own_settings.items() <= own.model_dump().items()
    assert not (own.only_adds and (own.staged or own.replaces_rows or own.keys))
    assert own.condition is not None or not (own.replaces_files or own.checks_condition)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_strategy_is_staged_wherever_it_merges(kind: type[Strategy]) -> None:
    own, columns = strategy(kind), (Field("id", "bigint"), Field("partition_column", "date"))
    statement = write_statement(own, target="t", staged="s", columns=columns, now="n")
    assert (statement is not None) == (own.staged and not own.replaces_rows)


def test_sentences_and_words_of_templates_tell_strategies_apart() -> None:
    assert len({kind.sentence for kind in KINDS}) == len(KINDS)
    words = [kind.template_word for kind in KINDS if kind.template_word]
    assert len(set(words)) == len(words)
    assert set(words) == TEMPLATE_WORDS
    assert "is_incremental" not in TEMPLATE_WORDS  # it asks something else


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_template_learns_its_strategy(name: str) -> None:
    answers = template_answers(name)
    assert answers.keys() == TEMPLATE_WORDS
    assert [word for word, answer in answers.items() if answer] == (
        [f"is_{name}"] if name != "incremental" else []
    )


# No setting names these: who has the request for one makes it, and is done with it.
MADE = {kind.__name__ for kind in (OverwriteWhere, ReplaceBatch, ReplaceRange)}
CLASSES = {kind.__name__ for kind in KINDS}
NAMES = {kind.model_fields["strategy"].default for kind in KINDS}
ELSEWHERE = {"snapshot", "incremental", "full_refresh"}  # words that mean other things, too
OTHERS = [file for file in SOURCES if "merging" not in file.parts]


def going_by_names(source: str) -> list[str]:
    """The expressions that tell strategies apart by their names or types."""
    tree = ast.parse(source)
    return [ast.unparse(node) for node in ast.walk(tree) if _goes_by_names(node)]


def _goes_by_names(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
            return name in CLASSES - MADE
        case ast.Compare(left=left, comparators=others):
            return any(_tells_strategy(part, node) for part in (left, *others))
        case ast.match_case(pattern=pattern):
            return any(_tells_strategy(part, node) for part in ast.walk(pattern))
        case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kinds]):
            return bool(_words(kinds) & MADE)
        case ast.Dict(keys=[*keys], values=values):
            return _is_table(keys) or _is_table(values)
        case ast.Set(elts=members) | ast.List(elts=members) | ast.Tuple(elts=members):
            return _is_table(members)
    return False


def _tells_strategy(part: ast.AST, whole: ast.AST) -> bool:
    if isinstance(part, ast.Attribute):
        return part.attr == "merge_strategy" or ast.unparse(part).endswith("strategy.strategy")
    unclear = ELSEWHERE if "strategy" not in ast.unparse(whole) else set()
    return bool(_words(part) & (NAMES | MADE) - unclear)


def _is_table(members: list[Any]) -> bool:
    texts = [part.value for part in members if isinstance(part, ast.Constant)]
    return len(NAMES.intersection(texts)) > 1


def _words(node: ast.AST) -> set[Any]:
    """The texts and names in an expression."""
    every = list(ast.walk(node))
    return {part.value for part in every if isinstance(part, ast.Constant)} | {
        part.id for part in every if isinstance(part, ast.Name)
    }


def test_only_the_room_of_strategies_knows_them_by_name() -> None:
    places = {str(file.relative_to(ROOT)): going_by_names(file.read_text()) for file in OTHERS}
    assert not {file: parts for file, parts in places.items() if parts}, "ask the strategy"


@pytest.mark.parametrize(
    "planted",
    [
        "if spec.strategy.strategy == 'full_refresh': pass",
        "if spec.config.merge_strategy != default: pass",
        "x = strategy in {'snapshot', kind}",
        "x = name == 'append_only'",
        "SENTENCES = {'full_refresh': 'all', 'scd2': 'history'}",
        "WORDS = {'is_scd2': 'scd2', 'is_snapshot': 'snapshot'}",
        "STAGED = ('incremental', 'delete_insert')",
        "from lakebed.tables import Scd2",
        "x = isinstance(strategy, merging.SoftDelete)",
        "x = isinstance(strategy, OverwriteWhere | Other)",
        "match strategy:\n    case ReplaceRange(): pass",
        "match strategy.strategy:\n    case 'scd2': pass",
    ],
)
def test_whoever_goes_by_names_is_caught(planted: str) -> None:
    assert going_by_names(planted)


@pytest.mark.parametrize(
    "planted",
    [
        "x = ReplaceRange(where=where, column=column)",
        "def pinned(label: str) -> tuple[ReplaceRange, Chunk]: ...",
        "x = kind == 'snapshot'",
        "x = {'full_refresh': options.full_refresh, 'ref': ref}",
        "x = record.strategy != BY_HAND",
        "x = STRATEGIES[config.merge_strategy].rebuilds_all",
    ],
)
def test_whoever_makes_or_asks_one_is_not(planted: str) -> None:
    assert going_by_names(planted) == []
