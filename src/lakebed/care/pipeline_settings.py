"""What a pipeline says about the care of its table: the `care` of its config.yaml, and nothing else of it."""

from pydantic import ValidationError

from lakebed.errors import BadPipeline
from lakebed.settings import Document, TableCare


def read_own_care(text: str, *, where: str) -> TableCare:
    """Read alone, so that a pipeline that is broken elsewhere keeps its say. Anything wrong is refused at its line."""
    document = Document(text, where=where, refusal=BadPipeline)
    given = next((value for key, value in document.tree.items() if str(key).casefold() == "care"), None)
    try:
        return TableCare.model_validate(given or {})
    except ValidationError as error:
        first = error.errors()[0]
        raise document.error_for({**first, "loc": ("care", *first["loc"])}, known=tuple(TableCare.model_fields)) from None
