"""The C ABI through ctypes, as thin as a test allows: statuses are names, errors an exception.

LOCKC_LIBRARY names another liblockc.so than the one of build/.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from ctypes import c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

Option = int | str | None

ROOT = Path(__file__).resolve().parents[2]
LIBRARY_PATH = Path(os.environ.get("LOCKC_LIBRARY", ROOT / "build" / "liblockc.so"))
WAIT_FOREVER = -1
RENEW, NO_RENEW, SPIN, PERMISSIVE, UNFENCED = 1, 2, 4, 8, 16
LOST_EXPIRED, LOST_TAKEN = 1, 2
DONE_ACQUIRE, DONE_EXTEND, DONE_RELEASE, EVENT_LOST = 1, 2, 3, 4


class ClientOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("connect_timeout_ms", c_uint32),
        ("reply_timeout_ms", c_uint32),
        ("max_waiters", c_uint32),
        ("key_prefix", c_char_p),
        ("client_name", c_char_p),
        ("username", c_char_p),
        ("password", c_char_p),
        ("default_ttl_ms", c_int64),
        ("renew_every_ms", c_int64),
        ("fence_retention_ms", c_int64),
        ("renew_batch", c_uint32),
        ("handover_max", c_uint32),
        ("handover_ms", c_uint32),
        ("spin_min_ms", c_uint32),
        ("spin_max_ms", c_uint32),
        ("log_fd", c_int32),
    ]


class AcquireOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", c_uint32),
        ("flags", c_uint32),
        ("kind", c_int32),
        ("max_tries", c_uint32),
        ("ttl_ms", c_int64),
        ("wait_ms", c_int64),
        ("max_hold_ms", c_int64),
        ("owner", c_uint64),
        ("events", c_void_p),
        ("events_tag", c_uint64),
    ]


class CompletionRecord(ctypes.Structure):
    _fields_ = [
        ("tag", c_uint64),
        ("kind", c_int32),
        ("status", c_int32),
        ("lock", c_void_p),
        ("error", c_void_p),
    ]


def load() -> ctypes.CDLL:
    """The library, with the types of what the tests call."""
    library = ctypes.CDLL(str(LIBRARY_PATH))
    results = {
        "lockc_status_name": c_char_p,
        "lockc_error_message": c_char_p,
        "lockc_lock_token": c_uint64,
        "lockc_lock_remaining_ms": c_int64,
        "lockc_lock_owner": c_char_p,
        "lockc_text_data": c_char_p,
    }
    for name, result in results.items():
        getattr(library, name).restype = result
    return library


LIBRARY = load()


def status_name(status: int) -> str:
    return str(LIBRARY.lockc_status_name(c_int32(status)).decode())


class Refused(Exception):
    """A status that isn't OK, with the text that came along."""

    def __init__(self, status: int, error: c_void_p) -> None:
        self.status = status_name(status)
        self.message = ""
        if error.value:
            self.message = LIBRARY.lockc_error_message(error).decode(errors="replace")
            LIBRARY.lockc_error_free(error)
        super().__init__(f"{self.status}: {self.message}")


def succeeds(call: Callable[[], None]) -> bool:
    """Whether a call ends well; one that meets the broken connection itself is told so."""
    try:
        call()
    except Refused as refused:
        if refused.status in {"E_UNCERTAIN", "E_UNREACHABLE"}:
            return False
        raise
    return True


def check(status: int, error: c_void_p) -> None:
    if status != 0:
        raise Refused(status, error)


class Lock:
    """One grant. Freed with the object."""

    def __init__(self, handle: int) -> None:
        self._handle = c_void_p(handle)

    @property
    def handle(self) -> c_void_p:
        return self._handle

    @property
    def token(self) -> int:
        return int(LIBRARY.lockc_lock_token(self._handle))

    @property
    def remaining_ms(self) -> int:
        return int(LIBRARY.lockc_lock_remaining_ms(self._handle))

    @property
    def lost_reason(self) -> int:
        return int(LIBRARY.lockc_lock_lost_reason(self._handle))

    @property
    def owner(self) -> bytes:
        return bytes(LIBRARY.lockc_lock_owner(self._handle))

    def extend(self, ttl_ms: int) -> None:
        error = c_void_p()
        check(LIBRARY.lockc_lock_extend(self._handle, c_int64(ttl_ms), ctypes.byref(error)), error)

    def release(self) -> None:
        error = c_void_p()
        check(LIBRARY.lockc_lock_release(self._handle, ctypes.byref(error)), error)

    def free(self) -> None:
        LIBRARY.lockc_lock_free(self._handle)
        self._handle = c_void_p()

    def __del__(self) -> None:
        self.free()


class Client:
    """A client of one server. Options are the members of the ABI's structs."""

    def __init__(self, url: str, **options: Option) -> None:
        self._handle = c_void_p()
        given = ClientOptions(struct_size=ctypes.sizeof(ClientOptions))
        for name, value in options.items():
            setattr(given, name, value.encode() if isinstance(value, str) else value)
        error = c_void_p()
        status = LIBRARY.lockc_client_open(
            ctypes.byref(self._handle), url.encode(), ctypes.byref(given), ctypes.byref(error)
        )
        check(status, error)

    @property
    def handle(self) -> c_void_p:
        return self._handle

    def connect(self, timeout_ms: int = 2000) -> None:
        error = c_void_p()
        check(
            LIBRARY.lockc_client_connect(self._handle, c_int64(timeout_ms), ctypes.byref(error)),
            error,
        )

    def acquire(self, key: str, **options: Option) -> Lock:
        lock, error = c_void_p(), c_void_p()
        given = AcquireOptions(struct_size=ctypes.sizeof(AcquireOptions), **options)
        name = key.encode()
        status = LIBRARY.lockc_client_acquire(
            ctypes.byref(lock),
            self._handle,
            name,
            c_size_t(len(name)),
            ctypes.byref(given),
            ctypes.byref(error),
        )
        check(status, error)
        assert lock.value is not None
        return Lock(lock.value)

    def inspect(self, key: str) -> str:
        text, error = c_void_p(), c_void_p()
        name = key.encode()
        status = LIBRARY.lockc_client_inspect(
            ctypes.byref(text), self._handle, name, c_size_t(len(name)), ctypes.byref(error)
        )
        check(status, error)
        try:
            return str(LIBRARY.lockc_text_data(text).decode())
        finally:
            LIBRARY.lockc_text_free(text)

    def close(self) -> None:
        LIBRARY.lockc_client_close(self._handle)
        self._handle = c_void_p()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


OpenClient = Callable[..., Client]  # the fixture open_client


class Completion:
    """A completion that was taken out; its lock is owned, its error read and freed."""

    def __init__(self, record: CompletionRecord) -> None:
        self.tag = int(record.tag)
        self.kind = int(record.kind)
        self.status = status_name(record.status)
        self.lock = Lock(record.lock) if record.lock else None
        self.message = Refused(record.status, c_void_p(record.error)).message


class Queue:
    """A completion queue."""

    def __init__(self, client: Client) -> None:
        self._handle = c_void_p()
        error = c_void_p()
        check(
            LIBRARY.lockc_queue_open(
                ctypes.byref(self._handle), client.handle, ctypes.byref(error)
            ),
            error,
        )

    @property
    def handle(self) -> int | None:
        return self._handle.value

    def acquire(self, tag: int, key: str, **options: Option) -> None:
        error = c_void_p()
        given = AcquireOptions(struct_size=ctypes.sizeof(AcquireOptions), **options)
        name = key.encode()
        status = LIBRARY.lockc_queue_acquire(
            self._handle,
            c_uint64(tag),
            None,
            name,
            c_size_t(len(name)),
            ctypes.byref(given),
            ctypes.byref(error),
        )
        if status_name(status) != "PENDING":
            raise Refused(status, error)

    def cancel(self, tag: int) -> None:
        LIBRARY.lockc_queue_cancel(self._handle, c_uint64(tag))

    def poll(self, timeout_ms: int) -> Completion | None:
        record = CompletionRecord()
        count = LIBRARY.lockc_queue_poll(
            self._handle, ctypes.byref(record), c_int32(1), c_int32(timeout_ms)
        )
        if count < 0:
            raise Refused(count, c_void_p())
        return Completion(record) if count else None

    def close(self) -> None:
        LIBRARY.lockc_queue_close(self._handle)
        self._handle = c_void_p()

    def __enter__(self) -> Queue:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
