-- Gives K back, or cancels V's wait for it; the next in the queue gets K in the same step.
--
-- KEYS    K the lock, F its fence, Q its queue, S until when its queue's entries count as alive
-- ARGV    V owner value · retention of F in ms
-- result  1                                  K was V's, and nobody stood in the queue
--         {ours, was queued, handed over}    each 0 or 1: K was V's; V had a place in the queue; K went to
--                                            the next live entry, which was told by its channel
--
-- One step, as K may be deleted only while it is V's; and as whoever waits must find K either held or
-- given to it, never free with nobody told. Works in full memory: it begins with ZREM or DEL.
local call = redis.call
local K, F, Q, V = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

-- Whatever stands at K, a cancel must work, so an unfitting type counts as another's.
local owner = redis.pcall('GET', K)
if owner == V and call('EXISTS', Q) == 0 then
  call('DEL', K)
  return 1
end

-- include common.lua
if owner and owner ~= V then
  if type(owner) == 'table' and string.sub(owner.err, 1, 9) ~= 'WRONGTYPE' then
    return owner
  end
  return {0, leave(V), 0}
end

local ours = owner and 1 or 0
local last = read_fence()
local next, unheard
if last then
  next, unheard = first_live(nil, V)
end

if next then
  local was = leave(next, V) - 1
  local first, n = grant(next, last, tonumber(ARGV[2]))
  purge()
  tell(next, first, n)
  return {ours, was, 1}
end

local was = leave(V)
if owner then
  call('DEL', K)
end
purge()
-- Nobody can be given K, but one whose connection is just coming back may ask for it at once.
if unheard then
  tell(unheard, 0, 0)
end
return {ours, was, 0}
