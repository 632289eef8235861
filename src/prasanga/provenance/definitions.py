"""What a source file defines and imports: the code of each definition, and what the names in it lead to.

Code is written out by `_Writer` and not by `ast.dump`, whose output differs between Python versions: an upgrade of
Python must not recompute a night of embeddings. What changes no result is left out (`prasanga.provenance.code`).
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

PACKAGES = {"prasanga": "src", "prasanga_construction": "construction", "prasanga_calibration": "calibration"}
"""The packages that are followed, and the folder of the project that each lies in."""
_LEFT_OUT = {"logs", "progress", "provenance"}
"""Modules that change no output: they tell how it was made, or are shown while it is made."""
_WRAPPERS = {
    *("cache", "cached_property", "classmethod", "compiled", "compiled_sums", "contextmanager", "dataclass", "drawn"),
    *("inference_mode", "lru_cache", "no_grad", "overload", "override", "property", "setter", "staticmethod"),
    *("total_ordering", "wraps"),
}
"""Decorators that do nothing but wrap what they stand on."""
_LOGGERS = {"log", "logger", "logging", "warnings"}
_LEVELS = {"critical", "debug", "error", "exception", "info", "log", "warn", "warning"}
_ERRORS = ("Error", "Exception", "Warning")
_LOOK_AROUND = {"eval", "exec", "globals"}
_IN_TEXT = {"chr", "len", "list", "max", "min", "repr", "reversed", "round", "set", "sorted", "str", "sum", "type"}
"""Functions that a text may call and still be nothing but text."""
_GIVING = {"append", "encode", "isascii", "items", "keys", "replace", "values"}
"""Methods of constants that give something new and change nothing, where what they give is bound to a name."""
_NO_CODE = {"ctx", "kind", "type_comment", "type_ignores", "type_params"}
"""Fields of syntax trees that change nothing, or that some Python versions do not have."""
_PARTLY = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.arg, ast.AnnAssign, ast.Assert, ast.Raise, ast.Call)
"""Syntax of which a part does not count."""
WHOLE, RUN = "*", ""
"""In place of a name in a module: all that it defines; the code that runs when it is imported."""


class Definition(NamedTuple):
    """Some code.

    Attributes:
        digest: of the code itself.
        reaches: what its names lead to: a module, and a dotted name in it.
        runs: what it imports: a module, and a name in it, which may be a module as well.
    """

    digest: str
    reaches: tuple[tuple[str, str], ...]
    runs: tuple[tuple[str, str], ...]


def read_definitions(
    source: bytes, module: str, *, is_package: bool
) -> tuple[dict[str, Definition], dict[str, tuple[tuple[str, str], ...]]]:
    """Return the definitions of a source file by name, and where the names come from that it imports of ours.

    Args:
        source: the file.
        module: its full name; a script, whose name begins with no package of ours, is nothing but code that runs.
        is_package: whether it is the `__init__` of a package.
    """
    reader = _Reader(ast.parse(source), module, module if is_package else module.rpartition(".")[0])
    return reader.definitions(), reader.imports


def is_ours(module: str) -> bool:
    """Return whether a module is of a package that is followed."""
    return module.split(".")[0] in PACKAGES


def is_left_out(module: str) -> bool:
    """Return whether a module changes no output."""
    return not _LEFT_OUT.isdisjoint(module.split("."))


def joined(*names: str) -> str:
    """Return names joined by dots, without those that are empty."""
    return ".".join(filter(None, names))


def short_digest(text: str) -> str:
    """Return what stands for code: 12 hexadecimal digits of its sha256."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


class _Reader:
    """What a source file defines and imports.

    Attributes:
        imports: where the names come from that it imports from packages of ours, at whatever place.
        others: the full names of what it imports from elsewhere.
        names: what it binds at its own level.
    """

    def __init__(self, tree: ast.Module, module: str, package: str) -> None:
        self._tree, self._module, self._package = tree, module, package
        self.imports: dict[str, tuple[tuple[str, str], ...]] = {}
        self.others: dict[str, set[str]] = defaultdict(set)
        self._stars: list[tuple[str, str]] = []
        for node in _statements(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                for bound_as, place in self._bindings(node):
                    if not is_ours(place[0]):
                        self.others[bound_as].add(joined(*place))
                    elif bound_as == "*":
                        self._stars.append((place[0], WHOLE))
                    else:
                        self.imports[bound_as] = (*self.imports.get(bound_as, ()), place)
        self.names: dict[str, list[ast.stmt]] = defaultdict(list)
        self._runs: list[tuple[str, str]] = []
        self._effects: list[ast.stmt] = []
        if is_ours(module):
            self._sort(tree.body)
        else:  # a script: all of it runs
            self._effects = tree.body

    def definitions(self) -> dict[str, Definition]:
        """Return the definitions by name, and the code that runs on import."""
        return {
            **{name: self._define(nodes) for name, nodes in self.names.items()},
            RUN: self._define(self._effects, self._runs),
        }

    def modules_run(self, node: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
        """Return the modules of ours that an import statement runs, each with a name that may be a module in it."""
        return [place for _, place in self._bindings(node, whole=True) if is_ours(place[0])]

    def is_shown(self, name: str) -> bool:
        """Return whether a name was imported from a module that is left out, such as `progress`."""
        return any(is_left_out(".".join(place)) for place in self.imports.get(name, ()))

    def _bindings(
        self, node: ast.Import | ast.ImportFrom, *, whole: bool = False
    ) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield each name that an import binds, and (module, name in it) that it stands for; `import a.b` binds a."""
        if isinstance(node, ast.Import):
            for each in node.names:
                module = each.name if each.asname or whole else each.name.split(".")[0]
                yield each.asname or module, (module, "")
            return
        base = node.module or ""
        if node.level:
            parts = self._package.split(".")
            base = joined(*parts[: len(parts) - node.level + 1], base)
        yield from ((each.asname or each.name, (base, each.name)) for each in node.names)

    def _sort(self, body: Iterable[ast.stmt]) -> None:
        """Take statements at the level of a module as definitions of names, as code with effects, or both."""
        for node in body:
            if _is_documentation(node) or _is_of_type_checking(node) or _is_main(node):
                continue
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._runs += self.modules_run(node)
                continue
            for name in _bound_by(node) - {"__all__", "__version__"}:
                self.names[name].append(node)
            if isinstance(node, ast.If | ast.Try):
                inner = [each for each in _statements(node) if isinstance(each, ast.Import | ast.ImportFrom)]
                self._runs += [place for each in inner for place in self.modules_run(each)]
            if not self._only_binds(node):
                self._effects.append(node)

    def _only_binds(self, node: ast.stmt) -> bool:
        """Return whether a statement does nothing but bind names, as far as can be seen."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return _is_wrapped(node)
            case ast.ClassDef():
                methods = [each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
                return not node.keywords and all(_is_wrapped(each) for each in (node, *methods))
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                return all(map(_is_of_names, targets)) and not (node.value and self._calls_ours(node.value))
            case ast.If() | ast.Try():
                inner = [*node.body, *node.orelse, *getattr(node, "finalbody", ())]
                inner += [each for handler in getattr(node, "handlers", ()) for each in handler.body]
                return all(map(self._only_binds, inner))
        return isinstance(node, ast.Import | ast.ImportFrom | ast.Pass) or _is_documentation(node)

    def _calls_ours(self, value: ast.expr) -> bool:
        """Return whether a value calls a function of ours, which may do anything; a class makes a record."""
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and (chain := _chain(node.func)):
                root, last = chain.split(".")[0], chain.rpartition(".")[2]
                is_ours = root in self.imports or root in self.names
                if is_ours and not last.lstrip("_")[:1].isupper() and not (chain != last and last in _GIVING):
                    return True
        return False

    def _define(self, nodes: Sequence[ast.stmt], runs: Iterable[tuple[str, str]] = ()) -> Definition:
        writer = _Writer(self)
        code = [writer.write(node) for node in writer.kept(nodes)]
        reaches: dict[tuple[str, str], None] = {}
        for dotted in writer.names:
            root, _, rest = dotted.partition(".")
            for module, name in self.imports.get(root, ()):
                reaches[module, joined(name, rest) or WHOLE] = None
            if root in self.names:
                reaches[self._module, root] = None
            elif root in _LOOK_AROUND and is_ours(self._module):
                reaches[self._module, WHOLE] = None
            if root in self.others:
                code.append(f"{root} is {sorted(self.others[root])}")
        if code:
            reaches |= dict.fromkeys(self._stars)
        digest = short_digest("\n".join(code)) if code else ""
        return Definition(digest, tuple(reaches), tuple(dict.fromkeys([*runs, *writer.runs])))


class _Writer:
    """Writes code so that equal code is equal text: no positions, and nothing of what changes no result.

    Attributes:
        names: the names in what was written, each with the attributes that are taken of it.
        runs: the modules of ours that it imports.
    """

    def __init__(self, reader: _Reader) -> None:
        self.names: dict[str, None] = {}
        self.runs: list[tuple[str, str]] = []
        self._reader = reader
        self._hidden: set[ast.stmt] = set()

    def write(self, node: object) -> str:
        """Return a syntax tree as nested tuples, in writing.

        The tuples are written as they are made; to make them first and write them afterwards takes four times as long.
        """
        if isinstance(node, list):
            items = [self.write(each) for each in self.kept(node)]
        elif isinstance(node, ast.AST):
            if isinstance(node, ast.Name | ast.Attribute) and (chain := _chain(node)):
                self.names[chain] = None
                return repr(chain)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._hide_text(node)
            items = [repr(type(node).__name__)]
            for name, value in self._fields(node) if isinstance(node, _PARTLY) else _plain_fields(node):
                if value is not None and (text := self.write(value)) != "()":
                    items.append(f"({name!r}, {text})")
        else:
            return ascii(node)
        return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"

    def kept(self, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Yield what counts of a list: no documentation, no messages, no imports from packages of ours."""
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom) and (runs := self._reader.modules_run(node)):
                self.runs += runs
            elif not (
                _is_documentation(node) or _is_of_type_checking(node) or _is_message(node) or node in self._hidden
            ):
                yield node

    def _fields(self, node: ast.AST) -> Iterator[tuple[str, object]]:
        """Yield what counts of a node: no annotations of functions, and nothing of what errors say."""
        match node:
            case ast.ClassDef() if node.name.endswith(_ERRORS):
                yield from (("name", node.name), ("bases", node.bases))
            case ast.ClassDef():
                yield from _plain_fields(node)
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                yield "annotations", [_parsed(each.annotation) for each in fields]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from ((name, value) for name, value in _plain_fields(node) if name != "returns")
                if not _is_wrapped(node):
                    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    yield "annotations", [_parsed(each.annotation) for each in arguments if each.annotation]
            case ast.arg() | ast.AnnAssign():
                yield from ((name, value) for name, value in _plain_fields(node) if name != "annotation")
            case ast.Assert():
                yield "test", node.test
            case ast.Raise(exc=ast.Call(func=func)) if _makes_error(func, raised=True):
                yield "exc", _last_name(func)
            case ast.Raise():
                yield "exc", node.exc
            case ast.Call(func=func) if _makes_error(func):
                yield "func", _last_name(func)
            case ast.Call(func=func) if self._reader.is_shown((_chain(func) or "").split(".")[0]):
                yield "func", func
                yield "args", [each for each in node.args if not _is_literal_text(each)]
                yield "keywords", [each for each in node.keywords if not _is_literal_text(each.value)]
            case _:
                yield from _plain_fields(node)

    def _hide_text(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Leave out the assignments of a function whose text goes into messages alone."""
        texts = {
            each: each.targets[0].id
            for each in _statements(function)
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name) and _is_text(each.value)
        }
        while texts:
            used = self._loaded(function)
            told = {each for each, name in texts.items() if name not in used and len(each.targets) == 1}
            if told <= self._hidden:
                return
            self._hidden |= told

    def _loaded(self, node: ast.AST) -> set[str]:
        """Return the names that are used in what counts; all that stand in a class or outside of a function as well."""
        found = set[str]()
        todo: list[object] = [node]
        while todo:
            match each := todo.pop():
                case ast.Name(id=name, ctx=ast.Load()):
                    found.add(name)
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    found |= set(names)
                case ast.ClassDef(body=body):
                    found |= {name for statement in body for name in _bound_by(statement)}
            if isinstance(each, ast.AST):
                todo += [value for _, value in self._fields(each)]
            elif isinstance(each, list):
                todo += [inner for inner in each if inner not in self._hidden and not _is_message(inner)]
        return found


def _plain_fields(node: ast.AST) -> Iterator[tuple[str, object]]:
    return ((name, getattr(node, name, None)) for name in _in_order(node._fields))


@functools.cache
def _in_order(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(names) - _NO_CODE))


def _chain(node: ast.AST) -> str | None:
    """Return a name with the attributes taken of it (`words.count.first`); None for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def _last_name(node: ast.expr) -> str:
    return (_chain(node) or "").rpartition(".")[2]


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield all statements within a node."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for inner in getattr(node, name, ()):
            if isinstance(inner, ast.stmt):
                yield inner
            yield from _statements(inner)


def _bound_by(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds at its own level."""
    found, todo = set[str](), [node]
    while todo:
        match each := todo.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                continue
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.alias():
                found.add(each.asname or each.name.split(".")[0])
        todo += ast.iter_child_nodes(each)  # type: ignore[arg-type]
    return found


def _is_documentation(node: ast.AST) -> bool:
    """Return whether a node is a string that stands by itself: a docstring, also one below an attribute."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_of_type_checking(node: ast.AST) -> bool:
    types = ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    return isinstance(node, ast.If) and not node.orelse and _chain(node.test) in types


def _is_main(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and _chain(node.test.left) == "__name__"


def _is_of_names(target: ast.expr) -> bool:
    inner = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    return all(isinstance(each, ast.Name | ast.Starred) for each in inner)


def _is_wrapped(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Return whether the decorators of a definition are known to do nothing else."""
    calls = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return all(_last_name(each) in _WRAPPERS for each in calls)


def _is_message(node: object) -> bool:
    """Return whether a statement only tells: `_LOG.info(...)`, `warnings.warn(...)`, `print(..., file=sys.stderr)`."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), keywords=keywords)):
            return any(each.arg == "file" and _chain(each.value) == "sys.stderr" for each in keywords)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Call(func=maker), attr=level))):
            return level in _LEVELS and _last_name(maker) == "getLogger"
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=logger, attr=level))):
            return level in _LEVELS and _last_name(logger).strip("_").lower() in _LOGGERS
    return False


def _makes_error(function: ast.expr, *, raised: bool = False) -> bool:
    """Return whether a call makes an error: a class named so, or, where it is raised, whatever function."""
    name = _last_name(function)
    return name.endswith(_ERRORS) or (raised and name.lstrip("_")[:1].islower())


def _is_literal_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_text(value: ast.expr) -> bool:
    """Return whether a value is text that is written here, and making it changes nothing."""

    def is_harmless(node: ast.AST) -> bool:
        match node:
            case ast.Call(func=ast.Name(id=name)):
                return name in _IN_TEXT
            case ast.Call(func=func):
                return getattr(func, "attr", "") == "join"
        return not isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom)

    nodes = list(ast.walk(value))
    return all(map(is_harmless, nodes)) and any(map(_is_literal_text, nodes))


def _parsed(annotation: ast.expr) -> ast.expr:
    """Return an annotation, parsed if it is a string."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation
