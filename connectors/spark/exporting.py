"""A view of a Spark warehouse into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compiler.maintain.plan import ViewPlan
from compiler.spelling.spark import shortest_real
from connectors.exported import NOTHING, declared, export_batch, fits, is_json, packed_shapes, settled, unpacked_shapes
from connectors.spark.pins import Pin
from connectors.spark.reading import Reading

SECONDS = (
    "CAST(({0}.months DIV 12 * CAST(365 AS BIGINT) + {0}.months % 12 * 30 + {0}.days) * 86400000000 + {0}.micros AS "
    "DOUBLE) / 1000000"
)
EXPORTED = {  # Parquet's interval has no sign: seconds; a real is the double of the digits that Postgres shows
    "interval": f"{SECONDS.format('`{0}`')} AS `{{0}}`",
    "interval[]": f"TRANSFORM(`{{0}}`, v -> CASE WHEN v IS NOT NULL THEN {SECONDS.format('v')} END) AS `{{0}}`",
    "real": f"CAST({shortest_real('`{0}`')} AS DOUBLE) AS `{{0}}`",
    "real[]": f"TRANSFORM(`{{0}}`, v -> CAST({shortest_real('v')} AS DOUBLE)) AS `{{0}}`",
}


def column(name: str) -> Any:
    from pyspark.sql.functions import col

    return col("`" + name.replace("`", "``") + "`")


class Exporting:
    """Writes what `Reading` reads; JSON columns get the types that their values share."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading

    def export(self, plan: ViewPlan, path: Path, fmt: str, at: Pin | None = None) -> None:
        self.reading.at(plan, at, lambda pin: self._export(plan, self.reading.frame(plan, pin), path, fmt))

    def _export(self, plan: ViewPlan, frame: Any, path: Path, fmt: str) -> None:
        types = [c.type for _, c in plan.outputs]
        if any(str(t) in EXPORTED for t in types):
            frame = frame.selectExpr(
                *(
                    EXPORTED.get(str(t), "`{0}`").format(n.replace("`", "``"))
                    for (n, _), t in zip(plan.outputs, types, strict=True)
                )
            )
        if fmt == "parquet" and any(map(is_json, types)):
            frame = frame.persist()  # read twice
            typed = self._with_json(
                frame, {n: declared(t) for (n, _), t in zip(plan.outputs, types, strict=True) if is_json(t)}
            )
            self.reading.write(plan.view, typed, path, fmt)
            frame.unpersist()
            return
        self.reading.write(plan.view, frame, path, fmt)

    def _with_json(self, frame: Any, kinds: dict[str, Any]) -> Any:
        """JSON columns as the types their values share: found in a first pass, of which a row a batch is collected."""
        from pyspark.sql.functions import parse_json
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructField, StructType

        found = (
            frame.select([column(n) for n in kinds])
            .mapInArrow(lambda batches: map(packed_shapes, batches), "kinds binary")
            .collect()
        )
        seen = zip(list(kinds.items()), unpacked_shapes([r.kinds for r in found], len(kinds)), strict=True)
        kinds = {n: k if fits(k, of) else of for (n, k), of in seen}
        fields = [
            StructField(f.name, from_arrow_type(settled(kinds[f.name])) if f.name in kinds else f.dataType)
            for f in frame.schema.fields
        ]
        frame = frame.mapInArrow(lambda batches: (export_batch(b, kinds) for b in batches), StructType(fields))
        return frame.select(
            [
                parse_json(column(f.name)).alias(f.name) if kinds.get(f.name, NOTHING) is None else column(f.name)
                for f in fields
            ]
        )
