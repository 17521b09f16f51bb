"""SQL to the SQL that maintains it: parse → bind → normalize → maintain (choose, differentiate)."""
