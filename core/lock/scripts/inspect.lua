-- Tells all the server knows of a lock; reads only, whatever the type of K.
--
-- KEYS    K the lock, F its fence, Q its queue, S until when its queue's entries count as alive
-- ARGV    none
-- result  {type, owner, pttl, token, now, V, ticket, seen, live, V, ..}
--         type: TYPE's word for K, "none" where it is free, "record" for a hash that is one. owner: K's
--         value, nil unless a string. pttl: of K, -2 where it is free, -1 if it never expires. token: the last one given, nil where
--         none is known. now: the server's clock in ms. Then four values for each of the first 1000
--         queue entries: owner value, ticket (string), ms of `now` until which it counts as alive (0
--         unknown), live 1 if it could be told of a grant now
--
-- One step, so that owner, token and queue belong together.
local call = redis.call
local K, F, Q, S = unpack(KEYS)

-- include record.lua

local kind = call('TYPE', K).ok
if kind == 'hash' then
  local told, version = pcall(read) -- not every user may read hashes
  kind = told and version and 'record' or kind
end
local token = redis.pcall('GET', F)
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local result = {
  kind,
  kind == 'string' and call('GET', K),
  call('PTTL', K),
  type(token) == 'string' and token,
  now,
}
local entries = call('ZRANGE', Q, 0, 999, 'WITHSCORES')
for i = 1, #entries, 2 do
  local V = entries[i]
  local seen = tonumber(call('ZSCORE', S, V) or 0)
  local client = string.match(V, '^lc1:([^:]+):')
  local heard = client and redis.pcall('PUBSUB', 'NUMSUB', 'lockc:wake:' .. client)
  local live = heard and seen >= now and (heard.err or heard[2] > 0)
  local at = #result
  result[at + 1] = V
  result[at + 2] = digits(tonumber(entries[i + 1]))
  result[at + 3] = seen
  result[at + 4] = live and 1 or 0
end
return result
