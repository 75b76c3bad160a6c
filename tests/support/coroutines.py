"""Tests that are coroutines."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from scale import scaled

WITHIN = scaled(60, 600)  # seconds; no test needs so long, and none goes on for longer


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs each in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), WITHIN))
    return True
