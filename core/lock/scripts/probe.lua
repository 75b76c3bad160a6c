-- Tells whether this user's scripts can wake waiters.
--
-- KEYS    none
-- ARGV    the caller's own wake channel
-- result  1 if PUBLISH is allowed there, else 0
--
-- An empty message is none to lockc, so the probe disturbs nobody.
local published = redis.pcall('PUBLISH', ARGV[1], '')
return type(published) == 'number' and 1 or 0
