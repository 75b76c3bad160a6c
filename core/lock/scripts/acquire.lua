-- Takes K for V, or tells why not and queues V for it.
--
-- KEYS    K the lock, F its fence, Q its queue, S until when its queue's entries count as alive
-- ARGV    V owner value · wait 0 or 1 · ticket of V's lost place, or 0 · retention of F in ms
-- result  first                                        K is V's, with all the tokens V asks for
--         {1, first token, n}                          K is V's, with tokens first .. first + n - 1
--         {2, pttl, position, ticket, mark, lockc}     queued; position counts from 0
--         {0, pttl, waiters, lockc}                    not queued (wait 0)
--         pttl: of K, -1 if it never expires. lockc 1: K's value has our form. In an array tokens, ticket
--         and mark are strings; the rest are integers
-- error   LOCKCFENCE: F can't be counted on; nothing was changed
--
-- One step, as the token must be drawn by whom K goes to and in that order; and as a free K must never
-- be seen between "nobody is queued" and "it is mine".
local call = redis.call
local K, F, Q, V = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

-- Uncontended. Written out for speed: what it does is read_fence and grant of common.lua, except that K
-- comes before F: the write that may be refused goes first, for nobody can have been told yet. F gets a
-- quarter more than it must last, so that most grants needn't prolong it.
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
    local first, n = us, b == '0' and 1 or tonumber(b)
    local keep = math.max(2 * ttl, retention)
    local whole = last < us or n == 1
    if last >= us then
      first, n = last + 1, 1
      keep = math.max(keep, retention + math.floor(first / 1000) - math.floor(us / 1000))
    end
    local kept = call('PTTL', F)
    call('SET', K, V, 'PX', ttl)
    if kept >= keep then
      call('INCRBY', F, first + n - 1 - last)
    else
      call('SET', F, first + n - 1, 'PX', keep + math.floor(retention / 4))
    end
    return whole and first or {1, string.format('%.0f', first), n}
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
