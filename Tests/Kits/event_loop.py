"""Runs coroutines of tests."""

import asyncio
import concurrent.futures


def run(coroutine):
    """Runs a coroutine to its end, in a thread of its own: playwright leaves an event loop in the tests' thread."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
