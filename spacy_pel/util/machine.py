"""The machine on which a speed was measured, and the memory of this process."""

import os
import platform
import sys
from pathlib import Path


def machine_note(device: str | None = None) -> str:
    """Processor and threads, e.g. "AMD EPYC 7763, 2 cores, 1 thread"; or the name of the GPU.

    Args:
        device: a torch device such as "cuda:0"; None or "cpu" = the processor.
    """
    torch = sys.modules.get("torch")  # if it was not imported, it did not run
    if device is not None and device.startswith("cuda") and torch is not None:
        return str(torch.cuda.get_device_name(device))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    note = f"{_processor()}, {cores} cores"
    if torch is not None:
        threads = torch.get_num_threads()
        note += f", {threads} thread{'s' * (threads != 1)}"
    return note


def memory_in_use() -> dict[str, int] | None:
    """Bytes of memory of this process: "own", and "mapped" files, whose pages are shared by the processes that use
    them. None = the system does not tell."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return None
    lines = (line.split() for line in status.read_text(encoding="utf8").splitlines())
    kilobytes = {name: int(rest[0]) for name, *rest in lines if name in ("RssAnon:", "RssFile:")}
    return {"own": kilobytes["RssAnon:"] * 1024, "mapped": kilobytes["RssFile:"] * 1024}


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
