"""Writes typed classes for the shared types of a store.

    python -m stoa.generate http://127.0.0.1:9464 -o bank.py

Each shared type becomes a class, and another one for asyncio, whose methods have the types that the
server describes in OpenAPI. Records become frozen dataclasses, enums become enums.
"""

from __future__ import annotations

import argparse
import keyword
import os
import re
import sys
from typing import Any, Dict, List, Optional, Tuple

from stoa._client import SharedObject, connect

_FORMATS = {
    "uuid": "uuid.UUID",
    "date-time": "datetime.datetime",
    "local-date-time": "datetime.datetime",
    "date": "datetime.date",
    "local-time": "datetime.time",
    "time": "datetime.time",
    "byte": "bytes",
    "decimal": "decimal.Decimal",
    "int32": "int",
    "int64": "int",
    "integer": "int",
    "float": "float",
    "double": "float",
}
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "Any"}
_PREFIX = "#/components/schemas/"
_HEAD = '''"""Typed classes for the shared types of a store; written by stoa.generate."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from typing import Any, Dict, List, Optional, Tuple, Union

import stoa
import stoa.aio'''


def _identifier(name: str) -> str:
    made = re.sub(r"\W+", "_", name).strip("_") or "_"
    if made[0].isdigit():
        made = "_" + made
    return made + "_" if keyword.iskeyword(made) else made


def _simple(name: str) -> str:
    """Returns the last part of a class name; of an id of a method, its name and parameters."""
    return _identifier(name.rsplit(".", 1)[-1])


class Generator:
    """Writes one module."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self._document = document
        self._schemas: Dict[str, Any] = document["components"]["schemas"]
        self._lines: List[str] = [_HEAD]
        self._names: Dict[str, str] = {}

    def _name(self, name: str) -> str:
        """Returns a class name of its own for a schema or type."""
        if name not in self._names:
            title = self._schemas.get(name, {}).get("title")
            wanted = _identifier(title) if title else _simple(name)
            made, number = wanted, 2
            while made in self._names.values():
                made, number = f"{wanted}{number}", number + 1
            self._names[name] = made
        return self._names[name]

    def _hint(self, schema: Dict[str, Any]) -> str:
        if "$ref" in schema:
            return self._name(schema["$ref"][len(_PREFIX) :])
        if "anyOf" in schema:
            return f"Optional[{self._hint(schema['anyOf'][0])}]"
        if "oneOf" in schema:
            parts = [self._hint(one["allOf"][1]) for one in schema["oneOf"]]
            return parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        kind = schema.get("type")
        if kind == "array":
            if "prefixItems" in schema:
                parts = [self._hint(one) for one in schema["prefixItems"]]
                return f"Tuple[{', '.join(parts)}]"
            return f"List[{self._hint(schema.get('items', {}))}]"
        if kind == "object":
            if "@object" in schema.get("properties", {}):
                return "stoa.Ref"
            if "additionalProperties" in schema:
                return f"Dict[str, {self._hint(schema['additionalProperties'])}]"
        return _TYPES.get(str(kind), "Any")

    def _parameter(self, schema: Dict[str, Any]) -> str:
        hint = self._hint(schema)
        if hint == "stoa.Ref":
            return "Union[stoa.Ref, stoa.SharedObject, stoa.aio.SharedObject]"
        return hint

    def _used(self) -> List[str]:
        """Returns the schemas that methods use."""
        return sorted(name for name in self._schemas if name not in ("Problem", "Call"))

    def _record(self, name: str, schema: Dict[str, Any]) -> None:
        self._lines += ["", "", "@dataclasses.dataclass(frozen=True)", f"class {self._name(name)}:"]
        simple = schema.get("x-stoa-record", name)
        self._lines += [f'    """The record {name}."""', ""]
        self._lines += [f"    STOA_TYPE = {simple!r}", ""]
        for field, of in schema.get("properties", {}).items():
            made = _identifier(field)
            hint = self._hint(of)
            if made == field:
                self._lines.append(f"    {made}: {hint}")
            else:
                metadata = f'metadata={{"json": {field!r}}}'
                self._lines.append(f"    {made}: {hint} = dataclasses.field({metadata})")

    def _enum(self, name: str, schema: Dict[str, Any]) -> None:
        self._lines += ["", "", f"class {self._name(name)}(enum.Enum):"]
        self._lines += [f'    """The enum {name}."""', ""]
        self._lines += [f"    {_identifier(one)} = {one!r}" for one in schema["enum"]]

    def _methods(self) -> Dict[str, List[Tuple[str, Dict[str, Any]]]]:
        types: Dict[str, List[Tuple[str, Dict[str, Any]]]] = {}
        for item in self._document["paths"].values():
            post = item.get("post", {})
            if "x-stoa-type" in post:
                methods = types.setdefault(post["x-stoa-type"], [])
                methods.append((post["x-stoa-method"], {**post, "read": "get" in item}))
        return types

    def _method(self, name: str, operation: Dict[str, Any], taken: List[str], is_async: bool) -> None:
        head, _, parameters = name.partition("(")
        made = _identifier(head)
        if parameters:
            classes = [one.rsplit(".", 1)[-1] for one in parameters.rstrip(")").split(",")]
            made = _identifier(head + "_" + "_".join(classes))
        while made in taken:
            made += "_"
        taken.append(made)
        content = operation["requestBody"]["content"]["application/json"]["schema"]
        items = content.get("prefixItems", [])
        names: List[str] = []
        for number, one in enumerate(items):
            wanted = _identifier(one.get("title", f"arg{number}"))
            names.append(wanted if wanted not in names + ["self", "at"] else f"arg{number}")
        given = ["self"] + [f"{of}: {self._parameter(one)}" for of, one in zip(names, items)]
        result = self._result(operation)
        verb = "async def" if is_async else "def"
        wait = "await " if is_async else ""
        arguments = "".join(f", {one}" for one in names)
        cast = "None" if result is None else result
        if operation["read"]:
            at = "at: Union[int, str, None] = None"
            signature = ", ".join(given + ["*", at])
            call = f"{wait}self.read({name!r}{arguments}, at=at, result={cast})"
        else:
            signature = ", ".join(given + ["*", "once: Optional[bool] = None"])
            call = f"{wait}self.call({name!r}{arguments}, result={cast}, once=once)"
        self._lines += ["", f"    {verb} {made}({signature}) -> {cast}:"]
        self._lines.append(f'        """Calls {name}."""')
        if result is None:
            self._lines.append(f"        {call}")
        else:
            self._lines += [f"        answer: {cast} = {call}", "        return answer"]

    def _result(self, operation: Dict[str, Any]) -> Optional[str]:
        answer = operation["responses"].get("200")
        if answer is None:
            return None
        return self._hint(answer["content"]["application/json"]["schema"])

    def _type(self, type_name: str, methods: List[Tuple[str, Dict[str, Any]]]) -> None:
        for is_async in (False, True):
            base = "stoa.aio.SharedObject" if is_async else "stoa.SharedObject"
            name = ("Async" if is_async else "") + self._name(type_name)
            self._lines += ["", "", f"class {name}({base}):"]
            self._lines += [f'    """An object of type {type_name}."""', ""]
            self._lines.append(f"    TYPE = {type_name!r}")
            taken = [one for one in dir(SharedObject) if not one.startswith("__")]
            for method, operation in methods:
                self._method(method, operation, taken, is_async)

    def text(self) -> str:
        """Returns the module."""
        methods = self._methods()
        for name in methods:
            self._name(name)
        for name in self._used():
            schema = self._schemas[name]
            if "enum" in schema:
                self._enum(name, schema)
            else:
                self._record(name, schema)
        for name in sorted(methods):
            self._type(name, sorted(methods[name], key=lambda one: one[0]))
        return "\n".join(self._lines) + "\n"


def generate(document: Dict[str, Any]) -> str:
    """Returns a module with the classes that an OpenAPI document of a store describes."""
    return Generator(document).text()


def main(arguments: Optional[List[str]] = None) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="stoa.generate", description=__doc__.split("\n")[0])
    parser.add_argument("url", help="the server's --http, such as http://127.0.0.1:9464")
    parser.add_argument("-o", "--output", help="the file to write; default: the standard output")
    parser.add_argument("--authorities", help="the signers of the server's certificate, in PEM")
    parser.add_argument(
        "--token-file", help="a file with a token of the server; default: STOA_TOKEN"
    )
    told = parser.parse_args(arguments)
    token = os.environ.get("STOA_TOKEN")
    if told.token_file:
        with open(told.token_file, encoding="utf-8") as file:
            token = file.readline().strip()
    with connect(told.url, token=token, authorities=told.authorities) as store:
        text = generate(store.openapi())
    if told.output:
        with open(told.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
