-- What tells a record from anything else at K.
-- Needs the locals call and K of the script that includes it.

-- A number as a record keeps it; nil for what isn't one. Numbers are doubles here, exact below 2^53.
local function number(text)
  local n = text and string.match(text, '^%d+$') and tonumber(text)
  return n and n < 9007199254740992 and n or nil
end

-- Written out in full: tostring and .. would keep 14 digits.
local function digits(n)
  return string.format('%.0f', n)
end

-- Version and token of the record at K, then the other fields that were named; 0 and 0 where K is free.
-- The first two are nil where K holds a hash that is no record. Raises WRONGTYPE where it is no hash.
local function read(...)
  local fields = call('HMGET', K, 'version', 'token', ...)
  if not fields[1] and call('EXISTS', K) == 0 then
    return 0, 0
  end
  local version, token = number(fields[1]), number(fields[2])
  if version and token and version > 0 then
    return version, token, fields[3]
  end
end

local function unusable()
  return redis.error_reply('LOCKCRECORD the key holds a hash that is not a record')
end
