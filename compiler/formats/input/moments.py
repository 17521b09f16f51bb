"""Fields to a moment (DecodeDateTime) or a time of day (DecodeTimeOnly), as Postgres' datetime.c puts them together."""

from __future__ import annotations

from compiler.formats.input import days, parts
from compiler.formats.input.fields import Bad, Field, FieldType, split
from compiler.formats.input.parts import DATE, DAY, ERA, HALF, MONTH, SUMMER, TIME, WEEKDAY, ZONE, Moment
from compiler.formats.input.refusal import Undecided
from compiler.formats.input.words import ABBREVIATIONS, UTC, WORDS, Word, zones

TIMED = (FieldType.NUMBER, FieldType.TIME, FieldType.DATE)  # what may follow the T


class Fields:
    """One reading: the moment so far, and what a field before this one said of it."""

    def __init__(self, text: str, only_time: bool, order: str = "mdy") -> None:
        self.fields = split(text)
        self.only_time = only_time
        self.m = Moment(order=order)
        self.next_is_time = False  # after the T of ISO 8601
        self.worded = False  # the month was a word
        self.named_zone = False
        self.whole_zone = False  # by a name, whose offset depends on the date

    @property
    def seen(self) -> int:
        return self.m.seen | (DATE if self.only_time else 0)

    def read(self) -> Moment:
        """What all fields say together. Bad where that is no moment, Undecided where servers differ."""
        for i, f in enumerate(self.fields):
            said = self.field(i, f)
            if said is not None:
                self.m.add(said)
        m = self.m
        days.validate(m)
        parts.twelve_hours(m)
        if self.only_time:
            if parts.overflows(m):
                raise Bad("field")
            if m.seen & TIME != TIME:
                raise Bad
            if self.whole_zone and m.seen & DATE != DATE:
                raise Bad
            if self.named_zone:
                raise Undecided  # an abbreviation may stand for several offsets
        elif m.seen & DATE != DATE:
            raise Bad
        return m

    def field(self, i: int, f: Field) -> int | None:
        """The parts that a field says; None: nothing at all."""
        match f.type:
            case FieldType.DATE:
                return self.dated(i, f.text)
            case FieldType.TIME:
                self.next_is_time = False
                said = parts.clock(self.m, f.text)
                if not self.only_time and parts.overflows(self.m):
                    raise Bad("field")
                return said
            case FieldType.ZONE:
                self.m.zone = parts.zone(f.text)
                return ZONE
            case FieldType.NUMBER:
                return self.number(i, f.text)
            case FieldType.STRING | FieldType.SPECIAL:
                return self.word(i, f.text)

    def dated(self, i: int, text: str) -> int:
        """Reads digits with separators, a date or a time with its zone; gives the parts it says, as bits. Bad if
        neither."""
        m = self.m
        if self.only_time:
            types = [f.type for f in self.fields]
            if i == 0 and len(types) >= 2 and (types[-1] is FieldType.DATE or types[1] is FieldType.TIME):
                return days.date(m, text, m.seen)
        elif not self.next_is_time and m.seen & (MONTH | DAY) != MONTH | DAY:
            return days.date(m, text, m.seen)
        if text[0].isdigit() or self.next_is_time:  # a time and a zone in one
            self.next_is_time = False
            if m.seen & TIME == TIME or "-" not in text:
                raise Bad
            at = text.index("-")
            m.zone = parts.zone(text[at:])
            return days.run_together(m, text[:at], self.seen) | ZONE
        return self.zone_name(text)

    def zone_name(self, text: str) -> int:
        if any(c in "+-0123456789" for c in text) or not zones():
            raise Undecided
        if text not in zones():
            raise Bad(f'time zone "{text}" not recognized')
        self.named_zone = self.whole_zone = True
        return ZONE

    def number(self, i: int, text: str) -> int:
        """Reads a bare number by its place and length; gives the parts it says, as bits. Bad where it is none."""
        m, point = self.m, "." in text
        if self.next_is_time:
            self.next_is_time = False
            said = days.run_together(m, text, m.seen | DATE)
            if said != TIME:
                raise Bad
            return said
        before = len(text.partition(".")[0])
        if self.only_time:
            if point and i == 0 and len(self.fields) >= 2 and self.fields[-1].type is FieldType.DATE:
                return days.date(m, text, m.seen)
            if point and before <= 2:
                raise Bad
            if point or len(text) > 4:
                return days.run_together(m, text, self.seen)
            return days.numbered(m, text, self.seen, False)
        if point and not m.seen & DATE:
            return days.date(m, text, m.seen)
        if point and before > 2 or len(text) >= 6 and (not m.seen & DATE or not m.seen & TIME):
            return days.run_together(m, text, m.seen)
        return days.numbered(m, text, m.seen, self.worded)

    def word(self, i: int, text: str) -> int | None:
        """Reads a word; gives the parts it says, as bits, None for one that says nothing. Bad where it is not known."""
        if text in ABBREVIATIONS:
            self.m.zone, self.named_zone = (0, self.named_zone) if text in UTC else (None, True)
            return ZONE
        word, value = WORDS.get(text[:10], (None, ""))
        match word:
            case Word.IGNORED:
                return None
            case Word.SPECIAL:
                return self.special(str(value))
            case Word.MONTH if not self.only_time:
                return self.month(int(str(value)))
            case Word.SUMMER:
                self.named_zone = True
                return SUMMER
            case Word.HALF:
                self.m.half = str(value)
                return HALF
            case Word.ERA:
                self.m.era = str(value)
                return ERA
            case Word.WEEKDAY if not self.only_time:
                return WEEKDAY
            case Word.CLOCK:
                return self.clock_sign(i)
            case Word.UNITS:
                raise Undecided  # y2001m02d04, until Postgres 15; j2451187
        if word is not None or len(text) < 3 and not zones():
            raise Bad
        if not zones():
            raise Undecided
        if text not in zones():
            raise Bad
        self.named_zone = self.whole_zone = True
        return ZONE

    def special(self, word: str) -> int:
        if word == "allballs":
            self.m.hour, self.m.minute, self.m.second, self.m.zone = 0, 0, 0, 0
            return TIME | ZONE
        if self.only_time and word != "now":
            raise Bad
        raise Undecided  # the moment of now, and the ends of time, are not written down here

    def month(self, n: int) -> int:
        m, said = self.m, MONTH
        if m.seen & MONTH and not self.worded and not m.seen & DAY and 1 <= m.month <= 31:
            m.day, said = m.month, DAY
        self.worded = True
        m.month = n
        return said

    def clock_sign(self, i: int) -> int:
        if not self.only_time and self.m.seen & DATE != DATE:
            raise Bad
        if i + 1 >= len(self.fields) or self.fields[i + 1].type not in TIMED:
            raise Bad
        self.next_is_time = True
        return 0
