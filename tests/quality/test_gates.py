"""Gates as they are read from files and from the tests of columns; tests/pipelines/test_gates.py
runs them.
"""

import pytest

from lakebed.errors import BadPipeline
from lakebed.quality import ColumnSpec, column_gates, read_gate


def test_a_file_says_how_severe_a_gate_is_and_how_to_fix_what_it_finds() -> None:
    gate = read_gate(
        "a",
        "-- @severity: warning\n-- @tags: Daily, core\n-- @remediation: call Ann\nSELECT 1",
        where="a.sql",
    )
    assert (gate.severity, gate.tags, gate.remediation) == ("warn", ("daily", "core"), "call Ann")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-- @severity: fatal", "error or warn"),
        ("-- @sevrity: warn", "severity"),
        ("-- severity: warn", "Write: -- @severity: warn"),
    ],
)
def test_a_misspelt_annotation_is_refused_with_what_is_meant(line: str, said: str) -> None:
    with pytest.raises(BadPipeline, match=said):
        read_gate("a", f"{line}\nSELECT 1", where="a.sql")


def test_tests_of_a_column_are_gates_as_dbt_writes_them() -> None:
    spec = ColumnSpec.model_validate(
        {"tests": ["not_null", {"accepted_values": {"values": ["it's", 1]}}]}
    )
    gates = {gate.name: gate.source for gate in column_gates({"kind": spec}, where="config.yaml")}
    assert set(gates) == {"kind_not_null", "kind_accepted_values"}
    assert r"NOT IN ('it\'s', 1)" in gates["kind_accepted_values"]


def test_a_value_with_braces_is_kept_from_the_templates() -> None:
    spec = ColumnSpec.model_validate({"tests": {"accepted_values": {"values": ["{{ this }}"]}}})
    (gate,) = column_gates({"kind": spec}, where="config.yaml")
    assert "{% raw %}'{{ this }}'{% endraw %}" in gate.source
