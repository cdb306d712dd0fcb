"""A store at a server, and its objects."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Sequence, Type, TypeVar, Union

from stoa import _problems
from stoa._http import Lines, Transport
from stoa._values import Ref, from_json, key_text, to_json

T = TypeVar("T", bound="SharedObject")
_AGAIN_SECONDS = 0.5


def _quoted(part: str) -> str:
    return urllib.parse.quote(part, safe="")


def _query(values: Dict[str, Any]) -> str:
    given = {}
    for name, value in values.items():
        if isinstance(value, bool):
            value = "true" if value else None
        if value is not None:
            given[name] = value
    return "?" + urllib.parse.urlencode(given, quote_via=urllib.parse.quote) if given else ""


@dataclass(frozen=True)
class Call:
    """A call of a transaction.

    Attributes:
        type: the stored name of the object's type
        key: its key, as the server reads it
        method: the name of the method
        arguments: as JSON
        result: the type of the answer; Any for JSON as it is
    """

    type: str
    key: str
    method: str
    arguments: Sequence[Any]
    result: Any = Any


@dataclass(frozen=True)
class Event:
    """An event of a stream.

    Attributes:
        id: names the place behind it: ``events(last=...)`` goes on there
        name: ``change`` of an object, ``put`` of a key, ``released`` for versions that are gone
        data: JSON
    """

    id: str
    name: str
    data: Any


class Store:
    """A store at a server. Thread-safe."""

    def __init__(self, transport: Transport, once: bool) -> None:
        self._transport = transport
        self._once = once

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def get(self, type: Union[str, Type[T]], key: Any) -> T:
        """Returns an object, whether it exists or not; asks no server.

        Args:
            type: the stored name of its type, or a generated class
            key: a text, a number (a Long; stoa.Int for an Integer), a UUID, or stoa.Key
        """
        if isinstance(type, str):
            return SharedObject(self, key, type)  # type: ignore[return-value]
        return type(self, key)

    def create(self, type: Union[str, Type[T]], key: Any, *arguments: Any) -> T:
        """Creates an object with the arguments of its constructor.

        Raises:
            AlreadyExists: when it exists
        """
        made: T = self.get(type, key)
        self._transport.request("POST", made._path(), [to_json(one) for one in arguments])
        return made

    def transact(
        self,
        calls: Sequence[Call],
        *,
        read_only: bool = False,
        once: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> List[Any]:
        """Makes all calls, or none, and returns their answers."""
        body = {
            "readOnly": read_only,
            "calls": [
                {
                    "type": one.type,
                    "key": one.key,
                    "method": one.method,
                    "arguments": list(one.arguments),
                }
                for one in calls
            ],
        }
        answer = self._post("transactions", body, once, timeout, read_only)
        return [from_json(one, of.result) for one, of in zip(answer["results"], calls)]

    def _post(
        self,
        path: str,
        body: Any,
        once: Optional[bool],
        timeout: Optional[float],
        repeatable: bool = False,
    ) -> Any:
        headers: Dict[str, str] = {}
        if timeout is not None:
            headers["Stoa-Timeout"] = f"{max(1, round(1000 * timeout))}ms"
        keyed = self._once if once is None else once
        if keyed:
            headers["Idempotency-Key"] = str(uuid.uuid4())
        return self._transport.request("POST", path, body, headers, keyed or repeatable)

    def _get(self, path: str, **query: Any) -> Any:
        return self._transport.request("GET", path + _query(query), repeatable=True)

    # ---- values under keys

    def value(self, key: Any, default: Any = None) -> Any:
        """Returns the value under a key of the key-value store."""
        try:
            return self._get("values/" + _quoted(key_text(key)))
        except _problems.NotFound:
            return default

    def put(self, key: Any, value: Any) -> None:
        """Puts a value under a key."""
        path = "values/" + _quoted(key_text(key))
        self._transport.request("PUT", path, to_json(value), repeatable=True)

    def remove(self, key: Any) -> bool:
        """Removes the value of a key; returns whether there was one."""
        try:
            self._transport.request("DELETE", "values/" + _quoted(key_text(key)))
            return True
        except _problems.NotFound:
            return False

    def puts(self, key: Any) -> Events:
        """Returns the present value of a key, and then each put, as events."""
        return Events(self._transport, "values/" + _quoted(key_text(key)) + "/events", None)

    # ---- looking in

    def types(self) -> List[Dict[str, Any]]:
        """Returns the types, and how many objects each has."""
        answer: List[Dict[str, Any]] = self._get("objects")
        return answer

    def objects(
        self, type: str, *, skip: int = 0, max: int = 50, sizes: bool = False
    ) -> Dict[str, Any]:
        """Returns a page of the objects of a type."""
        answer: Dict[str, Any] = self._get(
            "objects/" + _quoted(type), skip=skip, max=max, sizes=sizes
        )
        return answer

    def status(self, group: int = 0) -> Dict[str, Any]:
        """Returns the state of the server for a group."""
        answer: Dict[str, Any] = self._get("status", group=group)
        return answer

    def top(self, *, millis: int = 1000, rows: int = 15) -> Dict[str, Any]:
        """Watches for a moment, and returns what is hot, slow and large, and the calls that wait."""
        answer: Dict[str, Any] = self._get("top", millis=millis, rows=rows)
        return answer

    def openapi(self) -> Dict[str, Any]:
        """Returns the description of the interface."""
        answer: Dict[str, Any] = self._get("openapi.json")
        return answer


class SharedObject:
    """One object of a store. Thread-safe."""

    #: The stored name of the type; generated classes set it.
    TYPE = ""

    def __init__(self, store: Store, key: Any, type: Optional[str] = None) -> None:
        self._store = store
        self._type = type if type is not None else self.TYPE
        self._key = key_text(key)

    def __repr__(self) -> str:
        return f"{self._type}[{self._key}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SharedObject) and self._stoa_ref() == other._stoa_ref()

    def __hash__(self) -> int:
        return hash(self._stoa_ref())

    def _stoa_ref(self) -> Ref:
        return Ref(self._type, self._key)

    @property
    def ref(self) -> Ref:
        """The reference of the object."""
        return self._stoa_ref()

    def _path(self, more: str = "") -> str:
        return f"objects/{_quoted(self._type)}/{_quoted(self._key)}{more}"

    def call(
        self,
        method: str,
        *arguments: Any,
        result: Any = Any,
        once: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls a method, and returns its answer.

        Args:
            method: its name, or its id such as ``price(java.util.UUID)``
            result: the type of the answer; Any for JSON as it is
            once: whether the server recognizes the call when it comes again, so that a lost
                connection does not leave its outcome unknown; default: as the store says
            timeout: how long it may take, in seconds
        """
        given = [to_json(one) for one in arguments]
        path = self._path("/call/" + _quoted(method))
        return from_json(self._store._post(path, given, once, timeout), result)

    def read(
        self,
        method: str,
        *arguments: Any,
        at: Union[int, str, None] = None,
        result: Any = Any,
    ) -> Any:
        """Asks an accessor, now or as of a version or time."""
        given = None
        if arguments:
            given = json.dumps([to_json(one) for one in arguments], allow_nan=False)
        path = self._path("/call/" + _quoted(method))
        return from_json(self._store._get(path, arguments=given, at=at), result)

    def calling(self, method: str, *arguments: Any, result: Any = Any) -> Call:
        """Returns a call for a transaction."""
        given = [to_json(one) for one in arguments]
        return Call(self._type, self._key, method, given, result)

    def delete(self) -> bool:
        """Deletes the object; returns whether it existed."""
        try:
            self._store._transport.request("DELETE", self._path())
            return True
        except _problems.NotFound:
            return False

    def state(self, at: Union[int, str, None] = None) -> Dict[str, Any]:
        """Returns the state, now or as of a version or time, as ``./stoa show --json`` does."""
        answer: Dict[str, Any] = self._store._get(self._path(), at=at)
        return answer

    def history(
        self, *, start: int = 0, to: int = 0, max: int = 50, results: bool = False
    ) -> Dict[str, Any]:
        """Returns the last calls, as ``./stoa history --json`` does."""
        query = {"from": start or None, "to": to or None, "max": max, "results": results}
        answer: Dict[str, Any] = self._store._get(self._path("/history"), **query)
        return answer

    def diff(self, one: Union[int, str], other: Union[int, str]) -> Dict[str, Any]:
        """Returns what differs between two versions or times."""
        query = {"from": one, "to": other}
        answer: Dict[str, Any] = self._store._get(self._path("/diff"), **query)
        return answer

    def events(self, last: Optional[str] = None) -> Events:
        """Returns the changes from now on, or those behind the id of the last event."""
        return Events(self._store._transport, self._path("/events"), last)


class Events:
    """A stream of events. It connects again when its connection is lost. One thread reads; any
    may close."""

    def __init__(self, transport: Transport, path: str, last: Optional[str]) -> None:
        self._transport = transport
        self._path = path
        self._last = last
        self._closed = False
        self._lines: Optional[Lines] = self._opened()

    def _opened(self) -> Lines:
        headers = {"Accept": "text/event-stream"}
        if self._last is not None:
            headers["Last-Event-ID"] = self._last
        return Lines(self._transport, self._path, headers)

    def __enter__(self) -> Events:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Event]:
        return self

    def __next__(self) -> Event:
        while not self._closed:
            try:
                if self._lines is None:
                    self._lines = self._opened()
                event = self._read(self._lines)
                if event is not None:
                    return event
            except (OSError, http.client.HTTPException, _problems.Unavailable):
                pass
            if self._lines is not None:
                self._lines.close()
                self._lines = None
            if not self._closed:
                time.sleep(_AGAIN_SECONDS)
        raise StopIteration

    def _read(self, lines: Lines) -> Optional[Event]:
        fields: Dict[str, str] = {}
        while True:
            line = lines.line()
            if line is None:
                return None
            name, _, value = line.partition(": ")
            if line and name:
                fields[name] = value
            if line or "data" not in fields:
                continue
            data = json.loads(fields["data"])
            if fields.get("event") == "problem":
                self._closed = True
                raise _problems.of(data)
            if "id" in fields:
                self._last = fields["id"]
            return Event(fields.get("id", ""), fields.get("event", ""), data)

    def close(self) -> None:
        """Ends the stream."""
        self._closed = True
        lines = self._lines
        if lines is not None:
            lines.close()


def connect(
    url: str,
    *,
    token: Optional[str] = None,
    timeout: float = 30.0,
    authorities: Optional[str] = None,
    once: bool = False,
) -> Store:
    """Returns a store at a server; connects at the first request.

    Args:
        url: ``http://HOST:PORT`` of the server's ``--http``, or ``https://…``
        token: one of the server's tokens
        timeout: how long a request may take, with all its attempts, in seconds
        authorities: a file with the signers of the server's certificate, in PEM; default: those
            of the system
        once: whether calls and transactions are made exactly once also when connections are lost
            and servers restart; each then costs a transaction
    """
    return Store(Transport(url, token, timeout, authorities), once)
