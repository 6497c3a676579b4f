"""No YAML that lands in a lake can stall it."""

import pytest
import yaml

from lakebed.errors import BadPipeline, BadSettings
from lakebed.landing import parse_zone_spec
from lakebed.settings import LARGEST, Document, Root, load_settings, read_yaml, settings_tree

ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{below}'] * 9)}]\n"
    for below, name in zip("abcde", "bcdef", strict=True)
)
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{below}'] * 9)}]}}\n"
    for below, name in zip("abcde", "bcdef", strict=True)
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALIASES, "aliases"),
        (MERGED, "aliases"),
        ("a: &a\n  b: *a", "a value that contains it"),
        ("a: " + "[" * 5_000, "nested too deeply"),
        ("a: 2024-13-45", "month"),
        ("a: " + "1" * 5_000, "digits"),
        ("a: " + "ä" * LARGEST, "longer than 256 KiB"),
    ],
)
def test_a_text_that_would_stall_or_crash_its_reader_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadPipeline, match=said) as zone:
        parse_zone_spec(text, where="shop/landing/orders/zone.yaml")
    assert zone.value.where.startswith("shop/landing/orders/zone.yaml")
    with pytest.raises(BadSettings, match=said):
        load_settings(text, {}, root=Root("file:///lake"))
    with pytest.raises(yaml.YAMLError, match=said):
        read_yaml(text)


def test_values_given_on_the_command_line_are_bounded_too() -> None:
    with pytest.raises(BadSettings, match="not valid YAML"):
        settings_tree(["spark.conf=[&a [*a]]"])


def test_aliases_may_be_used() -> None:
    document = Document(
        "one: &one {a: 1}\ntwo: *one\nthree:\n  <<: *one\n  b: 2", where="x", refusal=BadSettings
    )
    assert document.tree == {"one": {"a": 1}, "two": {"a": 1}, "three": {"a": 1, "b": 2}}
    assert document.find(("two",))[0] == 2
