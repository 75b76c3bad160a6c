"""Ten tasks take turns with one lock; the work of one that loses it would be cancelled."""

import asyncio

import lockc


async def work(number: int) -> None:
    await asyncio.sleep(0.01)
    print("task", number, "is done")


async def main() -> None:
    async with lockc.aio.Client() as client:

        async def turn(number: int) -> None:
            async with client.lock("one at a time", timeout=10) as held:
                await lockc.aio.run_until(work(number), held.lost)

        await asyncio.gather(*(turn(number) for number in range(10)))


if __name__ == "__main__":
    asyncio.run(main())
