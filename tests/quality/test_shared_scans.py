"""Which gates share a scan, and what that scan asks."""

from lakebed.quality.shared_scans import share_scans

GATES = {
    "missing": "SELECT * FROM t WHERE id IS NULL",
    "negative": "SELECT * FROM t WHERE amount < 0 -- refunds are elsewhere",
    "repeated": "SELECT id FROM t GROUP BY id HAVING count(*) > 1",
    "other": "SELECT * FROM u WHERE id IS NULL",
}


def test_gates_of_one_source_share_a_scan_that_can_skip_files_without_bad_rows() -> None:
    (scan,) = share_scans(GATES)
    assert scan.gates == ("missing", "negative")
    assert " ".join(scan.query.split()) == (
        "SELECT count_if( id IS NULL ) AS gate_0, count_if( amount < 0 ) AS gate_1"
        " FROM t WHERE ( id IS NULL ) OR ( amount < 0 )"
    )


def test_a_gate_that_would_share_with_nobody_is_asked_alone() -> None:
    assert share_scans({"other": GATES["other"], "repeated": GATES["repeated"]}) == ()
