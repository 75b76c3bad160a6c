"""Lock libraries for Python over redis-py with hiredis, for bench/run.py: lib=NAME."""

from __future__ import annotations

import sys
from collections.abc import Callable

import hiredis  # noqa: F401 # redis-py uses it if it is there, silently; so see that it is
import pottery
import redis
import redis_lock
from load import Load, Lock


class RedisPy:
    def __init__(self, client: redis.Redis, key: str, ttl: float) -> None:
        self._lock = client.lock(key, timeout=ttl)
        self.release = self._lock.release

    def acquire(self, *, timeout: float) -> bool:
        return self._lock.acquire(blocking_timeout=timeout)


class PythonRedisLock:
    def __init__(self, client: redis.Redis, key: str, ttl: float) -> None:
        self._lock = redis_lock.Lock(client, key, expire=int(ttl))
        self.release = self._lock.release

    def acquire(self, *, timeout: float) -> bool:
        return self._lock.acquire(timeout=timeout)


class Pottery:
    def __init__(self, client: redis.Redis, key: str, ttl: float) -> None:
        self._lock = pottery.Redlock(key=key, masters={client}, auto_release_time=ttl)
        self.acquire = self._lock.acquire
        self.release = self._lock.release


LIBRARIES: dict[str, Callable[[redis.Redis, str, float], Lock]] = {
    "redis-py": RedisPy,
    "python-redis-lock": PythonRedisLock,
    "pottery": Pottery,
}


def main() -> None:
    load = Load.from_arguments()
    library = LIBRARIES[dict(word.split("=", 1) for word in sys.argv[1:])["lib"]]
    host, port = load.address.rsplit(":", 1)
    client = redis.Redis(host=host, port=int(port))
    warm_up = library(client, f"bench:warm-up:{load.process}", load.ttl_ms / 1e3)
    warm_up.acquire(timeout=5)
    warm_up.release()
    load.run_threads(lambda key: library(client, key, load.ttl_ms / 1e3))


if __name__ == "__main__":
    main()
