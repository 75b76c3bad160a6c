CREATE TABLE fences (key text PRIMARY KEY, token bigint NOT NULL)
