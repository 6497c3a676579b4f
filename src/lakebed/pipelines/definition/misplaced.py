"""Files that look as if a pipeline would read them, in places where none does. Pure."""

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from lakebed.errors import BadPipeline
from lakebed.pipelines.definition.spec import Kind

_SETTINGS = (".yml", ".yaml")
# folders of dbt's projects, the files in them that count, and what is done here instead
_FOREIGN = {
    "macros": (".sql", "Write {% macro … %} into the pipeline that uses it."),
    "seeds": (".csv", "Put them into a landing zone, which a pipeline reads: lakebed zone put"),
    "models": (".sql", "A pipeline is a folder: NAMESPACE/pipelines/LAYER/NAME/pipeline.sql."),
    "snapshots": (".sql", "A history is a pipeline with merge_strategy: scd2."),
    "tests": (".sql", "A gate is in the folder of its pipeline, in tests/quality/."),
}
OF_A_NAMESPACE = frozenset(_FOREIGN)
OF_THE_ROOT = OF_A_NAMESPACE - {"tests"}  # whose tests may be anybody's


def misplaced_in_pipeline(folder: str, paths: Iterable[str], kind: Kind) -> Iterator[BadPipeline]:
    """What is wrong with the places of files in a pipeline's folder. Code may read its own."""
    for path in sorted(paths):
        if advice := _advice(PurePosixPath(path), folder, kind):
            what = "nothing reads this file here."
            yield BadPipeline(what, where=f"{folder}/{path}", next=advice)


def _advice(path: PurePosixPath, folder: str, kind: Kind) -> str:
    suffix, top = path.suffix.casefold(), path.parts[0].casefold()
    if suffix == ".sql" and len(path.parts) > 1 and top in ("test", "tests"):
        right = path.parts[:2] == ("tests", "quality") and path.suffix == ".sql"
        return "" if right else f"Gates are in tests/quality: move it to {_gate(path)}."
    if suffix in _SETTINGS and (kind != "python" or path.stem.casefold() == "schema"):
        settings = str(path) == "config.yaml"
        return "" if settings else "Settings, columns and their tests are in config.yaml."
    if kind == "python" or str(path) == "pipeline.sql":
        return ""
    if top == "macros" and suffix == ".sql":
        return _FOREIGN[top][1]
    if suffix == ".sql":
        other = f"{folder.rpartition('/')[0]}/{path.stem}/pipeline.sql"
        return f"A gate is in tests/quality: {_gate(path)}; another pipeline is {other}."
    return _FOREIGN["seeds"][1] if suffix == ".csv" else ""


def _gate(path: PurePosixPath) -> str:
    return f"tests/quality/{path.stem}.sql"


def misplaced_beside_pipelines(path: str) -> BadPipeline | None:
    """What is wrong with a file `NAMESPACE/pipelines/…` that is in no pipeline's folder."""
    file = PurePosixPath(path)
    suffix = file.suffix.casefold()
    if file.name.startswith((".", "__")) or suffix not in (".sql", ".py", ".csv", *_SETTINGS):
        return None
    if suffix in _SETTINGS:
        advice = "Settings, columns and their tests are in config.yaml, in the folder of each."
    elif suffix == ".csv":
        advice = _FOREIGN["seeds"][1]
    else:
        layer = file.parent if len(file.parts) > 3 else file.parent / "LAYER"
        advice = f"A pipeline is a folder: {layer}/{file.stem}/pipeline{suffix}."
    return BadPipeline("nothing reads this file here.", where=path, next=advice)


def misplaced_folder(folder: str, paths: Iterable[str]) -> BadPipeline | None:
    """What is wrong with a folder that dbt would read, if it has such files."""
    suffix, advice = _FOREIGN[folder.rpartition("/")[2]]
    count = sum(path.casefold().endswith(suffix) for path in paths)
    if not count:
        return None
    files = f"{count} {suffix} file{'s' if count > 1 else ''}"
    return BadPipeline(f"nothing reads this folder ({files}).", where=folder, next=advice)
