-- Writes a record, unless it has seen a larger token or has another version than expected.
--
-- KEYS    K the record
-- ARGV    value · token of the writer, 0 where it has none · version that K must have, 0: it must be
--         free, "": whichever · ttl in ms, 0: K's expiry stays as it is
-- result  {1, version}   written; the record's version now
--         {2, token}     stale: a larger token came before
--         {3, version}   conflict: the version that K has, 0 where it is free
--         Token and version are strings
-- error   LOCKCRECORD: K holds a hash that is no record; nothing was changed
--
-- One step, so that no other write comes between the look at token and version and the write.
--
-- Versions come from the clock, so that one never comes back for another value after the record was
-- deleted or has expired.
local call = redis.call
local K, token, expected, ttl = KEYS[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]

-- include record.lua

-- Redis before 7 refuses writes behind TIME unless the effects are replicated.
pcall(redis.replicate_commands)

local version, last = read()
if not version or version == 9007199254740991 then
  return unusable()
end
if token > 0 and token < last then
  return {2, digits(last)}
end
if expected ~= '' and tonumber(expected) ~= version then
  return {3, digits(version)}
end

local time = call('TIME')
version = math.max(version + 1, time[1] * 1000000 + time[2])
call('HSET', K, 'value', ARGV[1], 'version', digits(version), 'token', digits(math.max(token, last)))
if ttl ~= '0' then
  call('PEXPIRE', K, ttl)
end
return {1, digits(version)}
