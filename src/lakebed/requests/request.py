"""What all requests have in common: they are checked when they are made, and never change."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from lakebed.errors import LakebedError, UnknownName, UsageError, sentence

# what may be given as a number, a date or a time, and is read where its meaning is known
OptionalText = Annotated[
    str | None, BeforeValidator(lambda value: None if value is None else str(value))
]


class Request(BaseModel):
    """A checked set of options; raises `UsageError` for what it does not allow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **options: Any) -> None:
        try:
            super().__init__(**options)
        except ValidationError as error:
            raise _refusal(type(self), error) from None

    @classmethod
    def stored(cls, options: Mapping[str, Any]) -> Self:
        """The request with these stored options, whichever version of Lakebed has stored them.

        What they lack has its default, and what no longer exists is left out.
        """
        return cls(**{name: options[name] for name in cls.model_fields if name in options})

    def replace(self, **changes: Any) -> Self:
        """This request with other values of some options."""
        return type(self)(**(dict(self) | changes))


def _refusal(request: type[Request], error: ValidationError) -> LakebedError:
    first = error.errors(include_url=False)[0]
    name, *inside = map(str, first["loc"])
    if first["type"] == "extra_forbidden":
        return UnknownName("option", name, request.model_fields)
    return UsageError(sentence(f"{'.'.join((name, *inside))}: {first['msg']}"))
