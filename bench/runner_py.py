"""lockc from Python: the same work and the same records as runner_c.c (see load.h).

mode=sync  one thread for each worker (the default)
mode=aio   one asyncio task for each worker
"""

import array
import asyncio
import ctypes
import sys
import threading
import time
from dataclasses import dataclass, field

import lockc

PROCESS_STRIDE = 100_000
GRACE = 10.0  # who waits when the time is over still gets its turn
REPLY_TIMEOUT = 10.0  # a busy machine makes a run slow, not wrong
PR_SET_TIMERSLACK = 29
now = time.monotonic_ns


@dataclass
class Load:
    address: str
    process: int = 0
    threads: int = 1
    pairs: int = 1000
    seconds: float = 10.0
    hold_us: int = 0
    think_us: int = 0
    keys: str = "own"
    mode: str = "sync"
    log: str = "/dev/null"
    deadline: int = field(default=0, init=False)

    def key(self, index: int) -> str:
        return "bench:one" if self.keys == "one" else f"bench:{self.process}:{index}"

    def begin(self) -> None:
        print("ready", flush=True)
        begin = int(sys.stdin.readline())
        time.sleep(max(0, begin - now()) / 1e9)
        self.deadline = now() + int(self.seconds * 1e9)

    def end(self, logs: list[array.array]) -> None:
        with open(self.log, "wb") as file:
            for log in logs:
                log.tofile(file)
        print("done", flush=True)
        sys.stdin.read()


def arguments() -> Load:
    types = {name: type(default) for name, default in vars(Load("")).items()}
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    return Load(**{name: types[name](text) for name, text in given.items() if name in types})


def run_sync(load: Load) -> None:
    def work(index: int, log: array.array) -> None:
        worker = load.process * PROCESS_STRIDE + index
        hold, think, deadline = load.hold_us / 1e6, load.think_us / 1e6, load.deadline
        lock = client.lock(load.key(index))
        for _ in range(load.pairs):
            asked = now()
            if asked >= deadline:
                break
            if not lock.acquire(timeout=(deadline - asked) / 1e9 + GRACE):
                raise TimeoutError(load.key(index))
            granted = now()
            if hold:
                time.sleep(hold)
            releasing = now()
            lock.release()
            log.extend((worker, asked, granted, releasing, now()))
            if think:
                time.sleep(think)

    with lockc.Client(f"redis://{load.address}", reply_timeout=REPLY_TIMEOUT) as client:
        with client.lock("bench:warm-up"):
            pass
        logs = [array.array("q") for _ in range(load.threads)]
        load.begin()
        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(logs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        load.end(logs)


async def run_aio(load: Load) -> None:
    async def work(index: int, log: array.array) -> None:
        worker = load.process * PROCESS_STRIDE + index
        hold, think, deadline = load.hold_us / 1e6, load.think_us / 1e6, load.deadline
        lock = client.lock(load.key(index))
        for _ in range(load.pairs):
            asked = now()
            if asked >= deadline:
                break
            if not await lock.acquire(timeout=(deadline - asked) / 1e9 + GRACE):
                raise TimeoutError(load.key(index))
            granted = now()
            if hold:
                await asyncio.sleep(hold)
            releasing = now()
            await lock.release()
            log.extend((worker, asked, granted, releasing, now()))
            if think:
                await asyncio.sleep(think)

    async with lockc.aio.Client(f"redis://{load.address}", reply_timeout=REPLY_TIMEOUT) as client:
        async with client.lock("bench:warm-up"):
            pass
        logs = [array.array("q") for _ in range(load.threads)]
        load.begin()
        await asyncio.gather(*(work(index, log) for index, log in enumerate(logs)))
        load.end(logs)


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0)
    given = arguments()
    if given.mode == "aio":
        asyncio.run(run_aio(given))
    else:
        run_sync(given)
