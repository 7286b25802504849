"""Finding and loading saved pipelines, with one-line errors."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import Errors, PelError, shortened
from ..util.config import describe_config_error
from ..util.files import files_below, unexpected

FACTORY = "proxy_entity_linker"


class LoadedPipeline(NamedTuple):
    """A pipeline and the component in it.

    Attributes:
        nlp: the pipeline.
        name: the component's name.
        component: the component; ``component.linker`` links mentions.
    """

    nlp: Any
    name: str
    component: Any


def load_pipeline(path: Path) -> LoadedPipeline:
    """Load a saved pipeline.

    Args:
        path: its folder, or the name of an installed pipeline package.

    Returns:
        With the component that links.

    Raises:
        PelError: if there is no pipeline, it cannot be loaded or has no such component.
    """
    nlp = load_spacy(path)
    names = linker_names(nlp)
    if not names:
        raise PelError(Errors.E651.format(path=path, factory=FACTORY, got=", ".join(nlp.pipe_names)))
    return LoadedPipeline(nlp, names[0], nlp.get_pipe(names[0]))


def load_spacy(path: str | Path) -> Any:
    """Load a saved pipeline of any kind.

    Args:
        path: its folder, or the name of an installed pipeline package.

    Returns:
        The pipeline.

    Raises:
        PelError: if there is no pipeline, or it cannot be loaded.
    """
    import spacy
    from catalogue import RegistryError
    from thinc.api import ConfigValidationError

    from .detectors.sci_tokenizer import add_run_rules

    folder = pipeline_folder(path)
    config = folder / "config.cfg"
    if not config.is_file():
        raise no_pipeline(folder)
    try:
        for entry in sorted(files_below(folder)):
            if entry.exists() and not entry.is_file():  # spaCy would read a pipe for ever
                got = f"{entry.relative_to(folder)} is not a regular file"
                raise PelError(Errors.E650.format(path=path, got=got))
        package = package_of(folder)
        if package and pipeline_folder(package) == folder:
            import_module(package)  # registers the parts that it was packaged with (`spacy package --code`)
        nlp = spacy.load(folder)
        add_run_rules(nlp.tokenizer)
        return nlp
    except PelError as err:
        if str(path) in str(err):
            raise
        raise PelError(f"{err} (The pipeline is {path}.)") from err  # a setting in config.cfg
    except (ConfigValidationError, RegistryError) as err:  # the latter: a part that is not registered
        raise PelError(Errors.E601.format(path=config, got=describe_config_error(err).rstrip("."))) from err
    except Exception as err:  # damaged files: spaCy, srsly, numpy and configparser each raise their own
        got = f"{type(err).__name__}: {err}"
        raise PelError(Errors.E650.format(path=path, got=shortened(got, 400))) from err


def pipeline_folder(path: str | Path) -> Path:
    """Find the folder of an installed pipeline package.

    Args:
        path: the name of a package, or any path.

    Returns:
        The folder with the package's pipeline; the path itself if it exists or there is no such package.
    """
    name = str(path)
    if Path(path).exists() or not name.isidentifier():
        return Path(path)
    spec = find_spec(name)
    configs = Path(spec.origin).parent.glob(f"{name}-*/config.cfg") if spec and spec.origin else iter(())
    config = next(configs, None)
    return config.parent if config else Path(path)


def package_of(folder: Path) -> str | None:
    """The name of the package that holds a pipeline; None if its folder is not part of a package."""
    folder = folder.resolve()
    package = folder.parent
    is_packaged = (package / "__init__.py").is_file() and folder.name.startswith(f"{package.name}-")
    return package.name if is_packaged else None


def check_may_change(folder: Path) -> None:
    """Check that a pipeline may be changed in place.

    Raises:
        PelError: if it is part of an installed package.
    """
    if package := package_of(folder):
        raise PelError(Errors.E667.format(name=package))


def no_pipeline(path: Path) -> PelError:
    """To raise for a path that has no config.cfg."""
    got = "a folder without config.cfg" if path.is_dir() else "a file" if path.is_file() else "no such folder"
    todo = "Check the path, or make one with spacy-pel quickstart or spacy assemble."
    return unexpected(path, "a pipeline folder (or an installed package of this name)", got, todo)


def linker_names(nlp: Any) -> list[str]:
    """The names of the components that link."""
    return [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == FACTORY]


def saved_part(pipeline: Path, part: str) -> Path | None:
    """The folder of a part of a saved pipeline, e.g. "kb", of the first linker that
    has it; None = none.

    Raises:
        PelError: if the pipeline's config cannot be read.
    """
    return next(iter(saved_parts(pipeline, part)), None)


def saved_parts(pipeline: Path, part: str) -> list[Path]:
    """The folders of a part of a saved pipeline's linkers.

    Raises:
        PelError: if the pipeline's config cannot be read.
    """
    from ..util.config import load_config

    components = load_config(pipeline / "config.cfg", {}).get("components", {})
    names = [name for name, settings in components.items() if settings.get("factory") == FACTORY]
    return [pipeline / name / part for name in names if (pipeline / name / part).exists()]
