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

-- Uncontended. Written out for speed: what it does is read_fence and grant of common.lua, except that K
-- comes before F: the write that may be refused goes first, for nobody can have been told yet.
if call('EXISTS', K, Q) == 0 then
  local fence = redis.pcall('GET', F)
  local last = not fence and 0
    or type(fence) == 'string' and string.match(fence, '^%d+$') and tonumber(fence)
  if last and last < 9007199253692416 then
    -- Redis before 7 refuses writes behind TIME and PTTL unless the effects are replicated.
    pcall(redis.replicate_commands)
    local time = call('TIME')
    local us = time[1] * 1000000 + time[2]
    local ttl, b = string.match(V, '^.*:(%d+):(%d+)$')
    local retention = ARGV[4]
    local keep = math.max(call('PTTL', F), 2 * ttl)
    local first, n
    if last < us then
      first = time[1] .. string.sub('000000', #time[2] + 1) .. time[2]
      n = b == '0' and 1 or tonumber(b)
      last = us + n - 1
    else
      first = string.format('%.0f', last + 1)
      n = 1
      last = last + 1
      keep = math.max(keep, retention + math.floor(last / 1000) - math.floor(us / 1000))
    end
    call('SET', K, V, 'PX', ttl)
    call('SET', F, last, 'PX', keep > tonumber(retention) and keep or retention)
    return {1, first, n}
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
