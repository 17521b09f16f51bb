"""The kinds of faults, by the name that --only takes, in the order they are done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from signal import SIGINT, SIGQUIT

from faulting.disk import files, full
from faulting.frozen import frozen
from faulting.isolation import isolation
from faulting.kills import kills
from faulting.network import Fault, network
from faulting.points import points
from faulting.restarts import restarts, restored
from faulting.scene import Bench
from faulting.slots import slots

BY_NAME: dict[str, Callable[[Bench], None]] = {
    "isolation": isolation,
    "failpoints": points,
    "kills": kills,
    "stall": partial(network, Fault.STALL),
    "cut": partial(network, Fault.CUT),
    "refuse": partial(network, Fault.REFUSE),
    "cut-refuse": partial(network, Fault.CUT_AND_REFUSE),
    "restart": partial(restarts, "fast", SIGINT),
    "crash": partial(restarts, "immediate", SIGQUIT),
    "restored": restored,
    "full": full,
    "files": files,
    "slots": slots,
    "frozen": frozen,
}
QUICK = ("failpoints", "kills", "stall", "cut", "crash", "files")
