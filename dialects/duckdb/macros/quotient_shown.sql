CREATE MACRO pg.quotient_shown(q, r, below) AS
CASE WHEN below AND q > 0 THEN '-' ELSE '' END || CASE WHEN r = 0 THEN CAST(q AS VARCHAR) ELSE
list_transform([repeat('0', r + 1 - len(CAST(q AS VARCHAR))) || q], lambda u: u[:len(u) - r] || '.' ||
right(u, r))[1] END
