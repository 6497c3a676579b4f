"""Each construct of DuckDB's documentation of SELECT once, over the tables of `ground.py`.

`{first}` is the table orders at its first commit. The order of rows is compared too where a
statement begins with `ORDERED`.
"""

from tests.query.statements.clauses import CLAUSES
from tests.query.statements.expressions import EXPRESSIONS
from tests.query.statements.joins import JOINS
from tests.query.statements.shapes import SHAPES
from tests.query.statements.windows import WINDOWS

STATEMENTS: dict[str, str] = {**CLAUSES, **JOINS, **WINDOWS, **EXPRESSIONS, **SHAPES}
assert len(STATEMENTS) == sum(map(len, (CLAUSES, JOINS, WINDOWS, EXPRESSIONS, SHAPES)))
