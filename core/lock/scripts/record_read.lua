-- Tells what a record holds.
--
-- KEYS    K the record
-- ARGV    bytes of value that the client takes
-- result  {version, token, value}; {"0", "0", ""} where K is free. All are strings
-- error   LOCKCRECORD: K holds a hash that is no record, or its value is longer than that
--
-- One step, so that value, version and token belong together.
local call = redis.call
local K = KEYS[1]

-- include record.lua

local version, token, value = read('value')
if version == 0 then
  value = ''
end
if not version or not value then
  return unusable()
end
if #value > tonumber(ARGV[1]) then
  return redis.error_reply('LOCKCRECORD the value has more than ' .. ARGV[1] .. ' bytes')
end
return {digits(version), digits(token), value}
