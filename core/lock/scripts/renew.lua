-- Prolongs the leases of several keys.
--
-- KEYS    K1 .. Kn
-- ARGV    ttl1 in ms, V1, .. ttln, Vn
-- result  {1 or 0, ..}: 1 where K is V's, then its expiry is at least ttl away; never shortened
--
-- One step per key, as an expiry may be moved only while K is V's. Works in full memory.

-- Redis before 7 refuses writes behind PTTL unless the effects are replicated.
pcall(redis.replicate_commands)

local renewed = {}
for i, K in ipairs(KEYS) do
  local ttl, V = ARGV[2 * i - 1], ARGV[2 * i]
  renewed[i] = 0
  -- A key of another type is another's, and must not keep the other keys from being renewed.
  if redis.pcall('GET', K) == V then
    if redis.call('PTTL', K) <= tonumber(ttl) then
      redis.call('PEXPIRE', K, ttl)
    end
    renewed[i] = 1
  end
end
return renewed
