"""Calls the shared objects of a Stoa server over HTTP.

    import stoa

    with stoa.connect("http://127.0.0.1:9464") as store:
        alice = store.get("bank.Account", "alice")
        alice.call("deposit", 100)
        print(alice.call("balance"))

``stoa.aio`` has the same for asyncio. ``python -m stoa.generate URL`` writes typed classes.
"""

from stoa._client import Call, Event, Events, SharedObject, Store, connect
from stoa._problems import (
    Aborted,
    AlreadyExists,
    BadRequest,
    DeadlineExceeded,
    Forbidden,
    Gone,
    LimitExceeded,
    NotFound,
    NotUnique,
    Problem,
    Thrown,
    TooOld,
    Unavailable,
    UnknownOutcome,
)
from stoa._values import Int, Key, Ref

__all__ = [
    "Aborted",
    "AlreadyExists",
    "BadRequest",
    "Call",
    "DeadlineExceeded",
    "Event",
    "Events",
    "Forbidden",
    "Gone",
    "Int",
    "Key",
    "LimitExceeded",
    "NotFound",
    "NotUnique",
    "Problem",
    "Ref",
    "SharedObject",
    "Store",
    "Thrown",
    "TooOld",
    "Unavailable",
    "UnknownOutcome",
    "connect",
]
