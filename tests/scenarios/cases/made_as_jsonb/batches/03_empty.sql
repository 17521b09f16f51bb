DELETE FROM badges;
DELETE FROM posts WHERE owner > 4;
