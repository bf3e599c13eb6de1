"""Copies between host and device by several threads, through page-locked memory."""

import os
from collections.abc import Callable
from threading import Thread
from typing import Any

import numpy as np

STAGED = 4 << 20  # bytes that a thread copies at a time
COPIERS = 8  # threads, at most
DIRECT = 1 << 20  # bytes up to which an array is copied at once


class Copies:
    """Copies of arrays to a device and back. The device has an array module `xp`."""

    xp: Any

    def copying(self, array: Any, dtype: Any) -> tuple[Any, Callable[[], None]]:
        """An array of the device that threads fill with a host array, and a function that waits for them.

        Each thread converts a part to the dtype, in page-locked memory, while the part before is copied.
        """
        there = self.xp.empty(len(array), dtype=dtype)

        def send(part: slice, buffer: Any, stream: Any) -> None:
            staged = buffer[: part.stop - part.start]
            with np.errstate(over="ignore", under="ignore"):
                np.copyto(staged, array[part], casting="unsafe")
            there[part].set(staged, stream=stream)

        return there, self._in_threads(len(array), np.dtype(dtype), send)

    def copied(self, array: Any, dtype: Any) -> Any:
        """Copy a host array to the device."""
        there, wait = self.copying(array, dtype)
        wait()
        return there

    def fetched(self, array: Any) -> Any:
        """Copy an array of the device to the host, a large one by several threads."""
        if array.nbytes <= DIRECT:
            return array.get()
        if array.ndim == 2 and not array.flags.c_contiguous:
            block = np.empty(array.shape, dtype=array.dtype, order="F")
            for column in range(array.shape[1]):
                self._fetch(self.xp.ascontiguousarray(array[:, column]), block[:, column])
            return block
        here = np.empty(array.shape, dtype=array.dtype)
        self._fetch(self.xp.ascontiguousarray(array).ravel(), here.reshape(-1))
        return here

    def _fetch(self, there: Any, here: Any) -> None:
        """Copy a contiguous array of the device into one of the host."""
        self.xp.cuda.get_current_stream().synchronize()

        def receive(part: slice, buffer: Any, stream: Any) -> None:
            staged = buffer[: part.stop - part.start]
            there[part].get(out=staged, stream=stream)
            stream.synchronize()
            here[part] = staged

        self._in_threads(len(here), here.dtype, receive)()

    def _in_threads(self, size: int, dtype: Any, copy: Callable[..., None]) -> Callable[[], None]:
        """Copy parts of an array by threads, each with two buffers in turn; returns what waits for them."""
        xp, step = self.xp, STAGED // dtype.itemsize
        count = min(COPIERS, os.cpu_count() or 1, -(-size // step))
        errors: list[BaseException] = []
        number = xp.cuda.runtime.getDevice()

        def run(first: int) -> None:
            try:
                with xp.cuda.Device(number):
                    memory = [xp.cuda.alloc_pinned_memory(STAGED) for _ in range(2)]
                    buffers = [np.frombuffer(one, dtype, step) for one in memory]
                    streams = [xp.cuda.Stream(non_blocking=True) for _ in range(2)]
                    for turn, start in enumerate(range(first * step, size, count * step)):
                        stream = streams[turn % 2]
                        stream.synchronize()
                        copy(slice(start, min(start + step, size)), buffers[turn % 2], stream)
                    for stream in streams:
                        stream.synchronize()
            except BaseException as error:
                errors.append(error)

        xp.cuda.get_current_stream().synchronize()
        threads = [Thread(target=run, args=(number_,)) for number_ in range(count)]
        for thread in threads:
            thread.start()

        def wait() -> None:
            for thread in threads:
                thread.join()
            if errors:
                raise errors[0]

        return wait
