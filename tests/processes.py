"""Processes, as the system tells of them."""

import signal
import time


def runs(pid: int) -> bool:
    """Whether a process is there; one that has ended and was not waited for is not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def ended(pid: int, patience: float = 60) -> bool:
    """Waits for the end of a process that is no child of ours."""
    end = time.monotonic() + patience
    while runs(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not runs(pid)


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def heed_interrupts() -> None:
    """For `preexec_fn`: a process that a shell starts behind "&" ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
