"""The same as ``stoa`` for asyncio.

    import stoa.aio

    async with stoa.aio.connect("http://127.0.0.1:9464") as store:
        alice = store.get("bank.Account", "alice")
        await alice.call("deposit", 100)

Requests run on threads, at most ``connections`` at a time; each stream of events has a thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Sequence, Type, TypeVar, Union

from stoa import _client
from stoa._client import Call, Event
from stoa._values import Ref

T = TypeVar("T", bound="SharedObject")
R = TypeVar("R")

__all__ = ["Call", "Event", "Events", "SharedObject", "Store", "connect"]


class Store:
    """A store at a server."""

    def __init__(self, store: _client.Store, connections: int) -> None:
        self._store = store
        self._threads = concurrent.futures.ThreadPoolExecutor(connections, "stoa")

    async def __aenter__(self) -> Store:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        self._store.close()
        self._threads.shutdown(wait=False)

    async def _run(self, work: Callable[..., R], *args: Any, **named: Any) -> R:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(work, *args, **named))

    def get(self, type: Union[str, Type[T]], key: Any) -> T:
        """Returns an object, as ``stoa.Store.get`` does."""
        if isinstance(type, str):
            return SharedObject(self, key, type)  # type: ignore[return-value]
        return type(self, key)

    async def create(self, type: Union[str, Type[T]], key: Any, *arguments: Any) -> T:
        """Creates an object, as ``stoa.Store.create`` does."""
        made: T = self.get(type, key)
        await self._run(self._store.create, made._object._type, key, *arguments)
        return made

    async def transact(
        self,
        calls: Sequence[Call],
        *,
        read_only: bool = False,
        once: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> List[Any]:
        """Makes all calls, or none, and returns their answers."""
        return await self._run(
            self._store.transact, calls, read_only=read_only, once=once, timeout=timeout
        )

    async def value(self, key: Any, default: Any = None) -> Any:
        """Returns the value under a key of the key-value store."""
        return await self._run(self._store.value, key, default)

    async def put(self, key: Any, value: Any) -> None:
        """Puts a value under a key."""
        await self._run(self._store.put, key, value)

    async def remove(self, key: Any) -> bool:
        """Removes the value of a key; returns whether there was one."""
        return await self._run(self._store.remove, key)

    async def puts(self, key: Any) -> Events:
        """Returns the present value of a key, and then each put, as events."""
        return Events(await self._run(self._store.puts, key))

    async def types(self) -> List[Dict[str, Any]]:
        """Returns the types, and how many objects each has."""
        return await self._run(self._store.types)

    async def objects(
        self, type: str, *, skip: int = 0, max: int = 50, sizes: bool = False
    ) -> Dict[str, Any]:
        """Returns a page of the objects of a type."""
        return await self._run(self._store.objects, type, skip=skip, max=max, sizes=sizes)

    async def status(self, group: int = 0) -> Dict[str, Any]:
        """Returns the state of the server for a group."""
        return await self._run(self._store.status, group)

    async def top(self, *, millis: int = 1000, rows: int = 15) -> Dict[str, Any]:
        """Watches for a moment, and returns what is hot, slow and large, and the calls that wait."""
        return await self._run(self._store.top, millis=millis, rows=rows)

    async def openapi(self) -> Dict[str, Any]:
        """Returns the description of the interface."""
        return await self._run(self._store.openapi)


class SharedObject:
    """One object of a store."""

    #: The stored name of the type; generated classes set it.
    TYPE = ""

    def __init__(self, store: Store, key: Any, type: Optional[str] = None) -> None:
        self._store = store
        self._object = _client.SharedObject(
            store._store, key, type if type is not None else self.TYPE
        )

    def __repr__(self) -> str:
        return repr(self._object)

    def _stoa_ref(self) -> Ref:
        return self._object.ref

    @property
    def ref(self) -> Ref:
        """The reference of the object."""
        return self._object.ref

    async def call(
        self,
        method: str,
        *arguments: Any,
        result: Any = Any,
        once: Optional[bool] = None,
        timeout: Optional[float] = None,
    ) -> Any:
        """Calls a method, as ``stoa.SharedObject.call`` does."""
        return await self._store._run(
            self._object.call, method, *arguments, result=result, once=once, timeout=timeout
        )

    async def read(
        self,
        method: str,
        *arguments: Any,
        at: Union[int, str, None] = None,
        result: Any = Any,
    ) -> Any:
        """Asks an accessor, now or as of a version or time."""
        return await self._store._run(self._object.read, method, *arguments, at=at, result=result)

    def calling(self, method: str, *arguments: Any, result: Any = Any) -> Call:
        """Returns a call for a transaction."""
        return self._object.calling(method, *arguments, result=result)

    async def delete(self) -> bool:
        """Deletes the object; returns whether it existed."""
        return await self._store._run(self._object.delete)

    async def state(self, at: Union[int, str, None] = None) -> Dict[str, Any]:
        """Returns the state, now or as of a version or time."""
        return await self._store._run(self._object.state, at)

    async def history(
        self, *, start: int = 0, to: int = 0, max: int = 50, results: bool = False
    ) -> Dict[str, Any]:
        """Returns the last calls."""
        return await self._store._run(
            self._object.history, start=start, to=to, max=max, results=results
        )

    async def diff(self, one: Union[int, str], other: Union[int, str]) -> Dict[str, Any]:
        """Returns what differs between two versions or times."""
        return await self._store._run(self._object.diff, one, other)

    async def events(self, last: Optional[str] = None) -> Events:
        """Returns the changes from now on, or those behind the id of the last event."""
        return Events(await self._store._run(self._object.events, last))


class Events:
    """A stream of events, for ``async for``. Close it, or use it with ``async with``."""

    def __init__(self, events: _client.Events) -> None:
        self._events = events
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "stoa-events")

    async def __aenter__(self) -> Events:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        loop = asyncio.get_running_loop()
        event = await loop.run_in_executor(self._thread, next, self._events, None)
        if event is None:
            raise StopAsyncIteration
        return event

    async def close(self) -> None:
        """Ends the stream."""
        self._events.close()
        self._thread.shutdown(wait=False)


def connect(
    url: str,
    *,
    token: Optional[str] = None,
    timeout: float = 30.0,
    authorities: Optional[str] = None,
    once: bool = False,
    connections: int = 32,
) -> Store:
    """Returns a store at a server, as ``stoa.connect`` does.

    Args:
        connections: how many requests are under way at a time
    """
    store = _client.connect(
        url, token=token, timeout=timeout, authorities=authorities, once=once
    )
    return Store(store, connections)
