-- Takes K for V, or tells why not and queues V for it.
--
-- KEYS    K the lock, F its fence, Q its queue, S until when its queue's entries count as alive
-- ARGV    V owner value · wait 0 or 1 · ticket of V's lost place, or 0 · retention of F in ms ·
--         grace in ms, always 0
-- result  {1, first token, n}                          K is V's, with tokens first .. first + n - 1
--         {2, pttl, position, ticket, mark, lockc}     queued; position counts from 0
--         {0, pttl, waiters, lockc}                    not queued (wait 0)
--         pttl: of K, -1 if it never expires. lockc 1: K's value has our form. Tokens, ticket and mark
--         are strings, the rest integers
-- error   LOCKCFENCE: F can't be counted on; nothing was changed
--
-- One step, as the token must be drawn by whom K goes to and in that order; and as a free K must never
-- be seen between "nobody is queued" and "it is mine".
local call = redis.call
local K, F, Q, V = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

-- Uncontended. K comes before F here: the write that may be refused first, and nobody has been told yet.
if call('EXISTS', Q) == 0 then
  local fence = redis.pcall('GET', F)
  local last = not fence and 0
    or type(fence) == 'string' and string.match(fence, '^%d+$') and tonumber(fence)
  if last and last < 9007199253692416 then
    pcall(redis.replicate_commands)
    local time = call('TIME')
    local us = time[1] * 1000000 + time[2]
    local ttl, b = string.match(V, ':(%d+):(%d+)$')
    local set = redis.pcall('SET', K, V, 'NX', 'PX', ttl)
    if set and set.ok then
      local first, n = us, math.max(1, tonumber(b))
      if last >= us then
        first, n = last + 1, 1
      end
      last = first + n - 1
      local retention = tonumber(ARGV[4])
      local ahead = math.ceil(last / 1000) - math.floor(us / 1000)
      local keep = math.max(call('PTTL', F), 2 * ttl, retention, retention + ahead)
      call('SET', F, string.format('%.0f', last), 'PX', string.format('%.0f', keep))
      return {1, string.format('%.0f', first), n}
    end
  end
end

-- Busy, and not to be waited for: neither fence nor clock is needed to say so.
local owner = call('GET', K)
local wait = ARGV[2] == '1'
if owner and owner ~= V and not wait then
  return {0, call('PTTL', K), call('ZCARD', Q), string.sub(owner, 1, 4) == 'lc1:' and 1 or 0}
end

-- include common.lua
-- include enter.lua
return enter(V, owner, wait, ARGV[3], tonumber(ARGV[4]))
