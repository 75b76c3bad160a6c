-- Gives K back for V1 and asks for it for V2: how a client passes K on fairly while it has waiters of
-- its own.
--
-- KEYS    K the lock, F its fence, Q its queue, S until when its queue's entries count as alive
-- ARGV    V1 owner value given up · V2 owner value that waits · retention of F in ms
-- result  {ours, reply}: ours 1 if K was V1's; reply is that of acquire for V2 with wait
-- error   LOCKCFENCE: F can't be counted on; nothing was changed
--
-- One step, as V2 must stand in the queue before another release can find it missing, and as K goes to
-- V2 itself only if nobody else waits. Begins with ZREM, so full memory never denies it.
local call = redis.call
local K, F, Q, V1 = KEYS[1], KEYS[2], KEYS[3], ARGV[1]

-- include common.lua
-- include enter.lua
local owner = call('GET', K)
local ours = owner == V1
local reply = enter(ARGV[2], not ours and owner, true, '0', tonumber(ARGV[3]), V1)
if reply.err then
  return reply
end
return {ours and 1 or 0, reply}
