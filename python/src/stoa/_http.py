"""Requests to a server, over connections that are kept. Thread-safe."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
import time
import urllib.parse
from typing import Any, Dict, List, Optional, Tuple

from stoa import _problems

# The server closes connections that are idle for 30 seconds.
_IDLE_SECONDS_MAX = 20.0
_KEPT_MAX = 32
_RETRY_SECONDS = 0.1


class Transport:
    """The connections to one server."""

    def __init__(
        self, url: str, token: Optional[str], timeout: float, authorities: Optional[str]
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server; use http://HOST:PORT")
        self._host = parts.hostname
        self._port = parts.port
        self._root = parts.path.rstrip("/") + "/v1/"
        self._timeout = timeout
        self._headers: Dict[str, str] = {}
        if token is not None:
            self._headers["Authorization"] = "Bearer " + token
        self._tls = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=authorities)
        self._kept: List[Tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()
        self._closed = False

    def connect(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        """Returns a new connection."""
        if self._tls is not None:
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=timeout, context=self._tls
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def headers(self, more: Dict[str, str]) -> Dict[str, str]:
        """Returns the headers of a request."""
        return {**self._headers, **more}

    def path(self, path: str) -> str:
        """Returns the whole path of a request."""
        return self._root + path

    def _take(self) -> http.client.HTTPConnection:
        old = []
        found = None
        with self._lock:
            if self._closed:
                raise _problems.Unavailable("the store is closed")
            while self._kept and found is None:
                since, connection = self._kept.pop()
                if time.monotonic() - since < _IDLE_SECONDS_MAX:
                    found = connection
                else:
                    old.append(connection)
        for connection in old:
            connection.close()
        return found if found is not None else self.connect(self._timeout)

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if not self._closed and len(self._kept) < _KEPT_MAX:
                self._kept.append((time.monotonic(), connection))
                return
        connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Optional[Dict[str, str]] = None,
        repeatable: bool = False,
    ) -> Any:
        """Makes a request, and returns the JSON of the answer; None when it has no content.

        A request that reached no server, or that a busy server refused, is made again until its
        time is over; one that may have been executed only when it is repeatable.

        Raises:
            Problem: what the server answers, or why there is no answer
        """
        end = time.monotonic() + self._timeout
        all_headers = self.headers(headers or {})
        content = None
        if body is not None:
            content = json.dumps(body, allow_nan=False).encode()
            all_headers["Content-Type"] = "application/json"
        while True:
            problem = None
            try:
                status, answer = self._once(method, path, content, all_headers, repeatable)
                if status < 400:
                    return json.loads(answer) if answer else None
                problem = _problem(status, answer)
                if status != 503 and problem.kind != "Busy":
                    raise problem
            except _Unsent as unsent:
                problem = _problems.Unavailable(str(unsent))
            if time.monotonic() + _RETRY_SECONDS >= end:
                raise problem
            time.sleep(_RETRY_SECONDS)

    def _once(
        self,
        method: str,
        path: str,
        content: Optional[bytes],
        headers: Dict[str, str],
        repeatable: bool,
    ) -> Tuple[int, bytes]:
        connection = self._take()
        try:
            if connection.sock is None:
                connection.connect()
        except OSError as failed:
            connection.close()
            raise _Unsent(f"{self._host}:{self._port} does not answer: {failed}") from failed
        try:
            connection.request(method, self.path(path), content, headers)
            answer = connection.getresponse()
            read = answer.read()
        except (OSError, http.client.HTTPException) as lost:
            connection.close()
            if repeatable:
                raise _Unsent(f"the connection was lost: {lost!r}") from lost
            raise _problems.UnknownOutcome(
                f"the connection was lost before the answer: {lost!r}; look whether the call was"
                " made, or let calls be made with once=True"
            ) from lost
        if answer.will_close:
            connection.close()
        else:
            self._keep(connection)
        return answer.status, read

    def close(self) -> None:
        """Closes all connections."""
        with self._lock:
            self._closed = True
            kept, self._kept = self._kept, []
        for _, connection in kept:
            connection.close()


class _Unsent(Exception):
    """The request may be made again."""


def _problem(status: int, answer: bytes) -> _problems.Problem:
    try:
        document = json.loads(answer)
        if isinstance(document, dict):
            return _problems.of(document)
    except ValueError:
        pass
    return _problems.Problem(answer.decode(errors="replace").strip() or str(status), status)


class Lines:
    """The lines of an answer that has no end of its own. One thread reads; any may close."""

    def __init__(self, transport: Transport, path: str, headers: Dict[str, str]) -> None:
        self._connection = transport.connect(60.0)
        self._connection.request("GET", transport.path(path), None, transport.headers(headers))
        self._answer = self._connection.getresponse()
        if self._answer.status != 200:
            read = self._answer.read()
            self._connection.close()
            raise _problem(self._answer.status, read)

    def line(self) -> Optional[str]:
        """Returns the next line; None at the end."""
        read = self._answer.readline()
        return read.decode().rstrip("\n") if read else None

    def close(self) -> None:
        """Ends the answer; a thread that reads it returns."""
        sock = self._connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._connection.close()
