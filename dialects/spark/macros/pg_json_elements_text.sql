CREATE MACRO pg_json_elements_text(x) AS
TRANSFORM(pg_json_items(x), v -> CASE WHEN v IS NULL OR IS_VARIANT_NULL(v) THEN NULL WHEN SCHEMA_OF_VARIANT(v)
= 'STRING' THEN LTRIM(CHR(1), CAST(v AS STRING)) ELSE pg_json_spaced(pg_json_unmarked(TO_JSON(v))) END)
