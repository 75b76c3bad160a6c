"""lockc from Python: the same work and the same records as runner_c.c (see load.h).

mode=sync  one thread for each worker (the default)
mode=aio   one asyncio task for each worker
"""

import array
import asyncio

import lockc
from load import GRACE, PROCESS_STRIDE, Load, now

REPLY_TIMEOUT = 10.0  # a busy machine makes a run slow, not wrong


def run_sync(load: Load) -> None:
    with lockc.Client(f"redis://{load.address}", reply_timeout=REPLY_TIMEOUT) as client:
        with client.lock("bench:warm-up"):
            pass
        load.run_threads(client.lock)


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
    given = Load.from_arguments()
    if given.mode == "aio":
        asyncio.run(run_aio(given))
    else:
        run_sync(given)
