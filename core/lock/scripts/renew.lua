-- Prolongs the leases of several keys.
--
-- KEYS    K1 .. Kn
-- ARGV    ttl1 in ms, V1, .. ttln, Vn
-- result  {i, ..}: of each Ki that isn't Vi's. The others' expiry is at least ttl away, never shortened
--
-- One step per key, as an expiry may be moved only while K is V's. Works in full memory.

-- Redis before 7 refuses writes behind PTTL unless the effects are replicated.
pcall(redis.replicate_commands)

local call, pcall, KEYS, ARGV = redis.call, redis.pcall, KEYS, ARGV

local lost = {}
for i = 1, #KEYS do
  local K, ttl, V = KEYS[i], ARGV[2 * i - 1], ARGV[2 * i]
  -- A key of another type is another's, and must not keep the other keys from being renewed.
  if pcall('GET', K) == V then
    -- GT saves looking at the expiry first. Redis before 7 does not know it, and a key without expiry,
    -- which needs one most, counts as one that never ends.
    if pcall('PEXPIRE', K, ttl, 'GT') ~= 1 and call('PTTL', K) <= tonumber(ttl) then
      call('PEXPIRE', K, ttl)
    end
  else
    lost[#lost + 1] = i
  end
end
return lost
