"""What a server answers when it refuses a request, or when the request fails."""

from __future__ import annotations

from typing import Any, Dict, Optional, Type


class Problem(Exception):
    """A refusal or failure, as the server tells it (RFC 9457).

    Attributes:
        status: the status of HTTP; 0 when no server has answered
        kind: in one word, such as ``Gone``
        detail: for a person, with the remedy
        exception: the Java class of what a method threw; None for other problems
        call: the number of the call of a transaction, from 0; None for other problems
    """

    def __init__(
        self,
        detail: str,
        status: int = 0,
        kind: str = "",
        exception: Optional[str] = None,
        call: Optional[int] = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status
        self.kind = kind or type(self).__name__
        self.exception = exception
        self.call = call


class Thrown(Problem):
    """The method threw an exception, which is its answer."""


class BadRequest(Problem):
    """The server cannot read the request, such as an argument of another type."""


class NotFound(Problem):
    """There is no such type, method, object, version or value."""


class AlreadyExists(Problem):
    """The object to create exists."""


class NotUnique(Problem):
    """Another object has a value that belongs to one object at most; the call changed nothing."""


class Gone(Problem):
    """The object was deleted."""


class TooOld(Problem):
    """The version was released."""


class Aborted(Problem):
    """Other calls always changed an object of the transaction first; nothing was written."""


class LimitExceeded(Problem):
    """The request is beyond a limit of the server."""


class Forbidden(Problem):
    """The roles of the client's identity do not allow the request; nothing was done."""


class DeadlineExceeded(Problem):
    """The call took longer than it may, and was taken back."""


class Unavailable(Problem):
    """No server can answer now; nothing was done."""


class UnknownOutcome(Problem):
    """Nobody knows whether the call was made."""


_KINDS: Dict[str, Type[Problem]] = {
    kind.__name__: kind
    for kind in (
        Thrown,
        BadRequest,
        NotFound,
        AlreadyExists,
        NotUnique,
        Gone,
        TooOld,
        Aborted,
        LimitExceeded,
        Forbidden,
        DeadlineExceeded,
        Unavailable,
        UnknownOutcome,
    )
}


def of(document: Dict[str, Any]) -> Problem:
    """Returns the problem of a document."""
    kind = str(document.get("title", "Problem"))
    return _KINDS.get(kind, Problem)(
        str(document.get("detail", kind)),
        int(document.get("status", 0)),
        kind,
        document.get("exception"),
        document.get("call"),
    )
