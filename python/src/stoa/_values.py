"""Values as JSON, both ways, as the server reads and writes them."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import math
import re
import uuid
from typing import Any, Dict, List, Tuple, Type, Union, get_args, get_origin, get_type_hints

_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_FRACTION = re.compile(r"\.(\d+)")


class Int(int):
    """A whole number that is a key of the Java class Integer; other numbers are Longs."""


class Key(str):
    """A key as the server's commands write it, such as ``record:bank.Slot(alice, long:7)``."""


@dataclasses.dataclass(frozen=True)
class Ref:
    """A reference to a shared object: its type, and its key as the server writes it."""

    type: str
    key: str


def key_text(key: Any) -> str:
    """Returns a key as the server reads it."""
    if isinstance(key, Key):
        return str(key)
    if isinstance(key, bool):
        raise TypeError(f"{key!r} is no key; use a text, a number or a UUID")
    if isinstance(key, Int):
        return f"int:{int(key)}"
    if isinstance(key, int):
        return f"long:{key}"
    if isinstance(key, uuid.UUID):
        return f"uuid:{key}"
    if isinstance(key, str):
        if _WORD.fullmatch(key):
            return key
        quoted = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{quoted}"'
    raise TypeError(f"{key!r} is no key; use a text, a number, a UUID or stoa.Key")


def to_json(value: Any) -> Any:
    """Returns the JSON of a value."""
    reference = getattr(value, "_stoa_ref", None)
    if reference is not None:
        value = reference()
    if value is None or isinstance(value, (bool, str)) and not isinstance(value, enum.Enum):
        return value
    if isinstance(value, Ref):
        return {"@object": value.type, "@key": value.key}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, (decimal.Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if dataclasses.is_dataclass(value):
        fields = {
            field.metadata.get("json", field.name): to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
        return {"@type": getattr(value, "STOA_TYPE", type(value).__name__), **fields}
    if isinstance(value, dict):
        return {_name(key): to_json(of) for key, of in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_json(one) for one in value]
    raise TypeError(f"{value!r} of {type(value).__name__} has no form in JSON")


def _name(key: Any) -> str:
    name = to_json(key)
    if isinstance(name, str):
        return name
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    raise TypeError(f"{key!r} cannot be the name of a member; pass a list of pairs")


def _time(text: str) -> str:
    """Returns a time as datetime reads it: Python keeps microseconds."""
    text = _FRACTION.sub(lambda digits: "." + digits.group(1)[:6].ljust(6, "0"), text)
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    return text


def from_json(value: Any, hint: Any) -> Any:
    """Returns the value of a type that JSON stands for."""
    if hint is Any or hint is None:
        return value
    origin = get_origin(hint)
    if origin is Union:
        return _one_of(value, get_args(hint))
    if value is None:
        return None
    if origin is list:
        return [from_json(one, get_args(hint)[0]) for one in value]
    if origin is tuple:
        return tuple(from_json(one, of) for one, of in zip(value, get_args(hint)))
    if origin is dict:
        return {name: from_json(of, get_args(hint)[1]) for name, of in value.items()}
    if hint is Ref:
        return Ref(value["@object"], value["@key"])
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(value, hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    if hint is bytes:
        return base64.b64decode(value)
    if hint is datetime.datetime:
        return datetime.datetime.fromisoformat(_time(value))
    if hint is datetime.date:
        return datetime.date.fromisoformat(value)
    if hint is datetime.time:
        return datetime.time.fromisoformat(_time(value))
    if hint in (int, float, decimal.Decimal, uuid.UUID, str, bool):
        return hint(value)
    raise TypeError(f"{hint!r} is no type of values")


def _one_of(value: Any, hints: Tuple[Any, ...]) -> Any:
    some = [one for one in hints if one is not type(None)]
    if value is None or len(some) == 1:
        return None if value is None else from_json(value, some[0])
    for one in some:
        if getattr(one, "STOA_TYPE", None) == value.get("@type"):
            return _record(value, one)
    raise ValueError(f"{value!r} is none of {some}")


def _record(value: Dict[str, Any], hint: Type[Any]) -> Any:
    hints = get_type_hints(hint)
    values: List[Any] = []
    for field in dataclasses.fields(hint):
        name = field.metadata.get("json", field.name)
        values.append(from_json(value.get(name), hints[field.name]))
    return hint(*values)
