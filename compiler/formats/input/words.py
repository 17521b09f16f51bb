"""Words of dates and times, and of zones: the tables of Postgres' datetime.c and its default abbreviations."""

from __future__ import annotations

import functools
import zoneinfo
from enum import Enum

NAMES = (
    "jan january",
    "feb february",
    "mar march",
    "apr april",
    "may",
    "jun june",
    "jul july",
    "aug august",
    "sep sept september",
    "oct october",
    "nov november",
    "dec december",
)
MONTHS = {w: i + 1 for i, ws in enumerate(NAMES) for w in ws.split()}


def _words(text: str) -> list[str]:
    return text.split()


DAYS = _words("sun sunday mon monday tue tues tuesday wed weds wednesday thu thur thurs thursday fri friday")
DAYS += _words("sat saturday")
UNITS = _words("d dow doy h isodow isoyear j jd julian m mm s y")


class Word(Enum):
    MONTH = "month"
    WEEKDAY = "weekday"
    UNITS = "units"
    SPECIAL = "special"
    ERA = "era"
    HALF = "half"  # of the day
    IGNORED = "ignored"
    SUMMER = "summer"
    CLOCK = "clock"  # a time follows


WORDS: dict[str, tuple[Word, object]] = {
    **{w: (Word.MONTH, n) for w, n in MONTHS.items()},
    **{w: (Word.WEEKDAY, w) for w in DAYS},
    **{w: (Word.UNITS, w) for w in UNITS},
    **{w: (Word.SPECIAL, w) for w in _words("-infinity allballs epoch infinity now today tomorrow yesterday")},
    "ad": (Word.ERA, "ad"),
    "bc": (Word.ERA, "bc"),
    "am": (Word.HALF, "am"),
    "pm": (Word.HALF, "pm"),
    "at": (Word.IGNORED, ""),
    "on": (Word.IGNORED, ""),
    "dst": (Word.SUMMER, ""),
    "t": (Word.CLOCK, ""),
}

UTC = frozenset(_words("utc gmt ut uct z zulu"))
ABBREVIATIONS = frozenset(
    _words("""
acdt acsst acst act acwst adt aedt aesst aest aft akdt akst almst almt amst amt anast anat arst art ast awsst awst
azost azot azst azt bdst bdt bnt bort bot bra brst brt bst btt cadt cast cct cdt cest cet cetdst chadt chast chut ckt
clst clt cot cst cxt davt ddut easst east eat edt eest eet eetdst egst egt est fet fjst fjt fkst fkt fnst fnt galt
gamt gest get gft gilt gmt gyt hkt hst ict idt iot irkst irkt irt ist jayt jst kdt kgst kgt kost krast krat kst lhdt
lhst ligt lint lkt magst magt mart mawt mdt mest mesz met metdst mez mht mmt mpt msd msk mst must mut mvt myt ndt nft
novst novt npt nst nut nzdt nzst nzt omsst omst pdt pet petst pett pgt pht pkst pkt pmdt pmst pont pst pwt pyst pyt
ret sadt sast sct sgt taht tft tjt tkt tmt tot trut tvt uct ulast ulat ut utc uyst uyt uzst uzt vet vlast vlat volt
vut wadt wakt wast wat wdt wet wetdst wft wgst wgt xjt yakst yakt yapt yekst yekt z zulu
""")
)


@functools.cache
def zones() -> frozenset[str]:
    """Names of time zones in small letters; none where the system has no such data."""
    return frozenset(z.lower() for z in zoneinfo.available_timezones())
