-- What acquire, release and requeue share: reading the fence and the queue, and giving K to an owner.
-- Needs the locals call, K, F, Q of the script that includes it.

-- Redis before 7 refuses writes behind TIME, PTTL and PUBSUB unless the effects are replicated.
pcall(redis.replicate_commands)

local S = KEYS[4]

local time = call('TIME')
local us = time[1] * 1000000 + time[2]
local ms = math.floor(us / 1000)

-- Numbers are doubles here, exact below 2^53. They go to commands as they are, since the server writes
-- them with all their digits; tostring and .. would keep 14 of them.
local function digits(x)
  return string.format('%.0f', x)
end

-- Client, ttl and number of tokens of an owner value; nil where it isn't one of ours.
local function parse(v)
  local client, ttl, b = string.match(v, '^lc1:([^:]+):%d+:[^:]+:(%d+):(%d+)$')
  if client then
    return client, tonumber(ttl), math.max(1, tonumber(b))
  end
end

-- The last token given, 0 where none is known; or nil and the error to answer: without a usable fence
-- nothing may be granted. The bound leaves room for a million further grants below 2^53.
local function read_fence()
  local value = redis.pcall('GET', F)
  if not value then
    return 0
  end
  local last = type(value) == 'string' and string.match(value, '^%d+$') and tonumber(value)
  if last and last < 9007199253692416 then
    return last
  end
  return nil, redis.error_reply('LOCKCFENCE unusable fence value')
end

-- Takes owner values out of the queue; tells how many of them were in it.
local function leave(...)
  local left = call('ZREM', Q, ...)
  call('ZREM', S, ...)
  return left
end

-- Entries whose time has run out. S alone names them, wherever in the queue they stand.
local stale = call('ZRANGEBYSCORE', S, '-inf', '(' .. digits(ms), 'LIMIT', 0, 64)

local function purge(own)
  for _, v in ipairs(stale) do
    if v ~= own then
      leave(v)
    end
  end
end

-- How many clients here would hear a message to each of these queue entries. A user who may not ask
-- counts every entry as heard: its clients poll.
local function listeners(entries)
  local channels = {}
  for i, v in ipairs(entries) do
    channels[i] = 'lockc:wake:' .. (parse(v) or '')
  end
  local reply = redis.pcall('PUBSUB', 'NUMSUB', unpack(channels))
  return function(i)
    return reply.err or reply[2 * i] > 0
  end
end

-- The first entry that can be told of a grant now; `own` always can, `gone` is passed over. Second: the
-- first entry that is fresh but has no subscriber, as its connection may just be coming back.
local function first_live(own, gone)
  local unheard
  local from, count = 0, 1
  while from < 1024 do
    local entries = call('ZRANGE', Q, from, from + count - 1)
    if not entries[1] then
      break
    end
    local seen = call('ZMSCORE', S, unpack(entries))
    local heard = listeners(entries)
    for i, v in ipairs(entries) do
      if v == own then
        return v, unheard
      elseif v ~= gone then
        if not seen[i] or not parse(v) then
          if #stale < 64 then
            stale[#stale + 1] = v
          end
        elseif tonumber(seen[i]) >= ms then
          if heard(i) then
            return v, unheard
          end
          unheard = unheard or v
        end
      end
    end
    -- The head is nearly always live, so it is looked at alone; behind it, many at a time.
    from = from + count
    count = math.min(4 * count, 256, 1024 - from)
  end
  return nil, unheard
end

-- Draws the tokens of a grant behind `last`: the clock gives whole blocks, and where it is behind the
-- fence single tokens follow, so that the fence never runs far ahead of the clock. Never shortens the
-- fence's expiry, nor lets a fence that is ahead of this clock go before the clock has passed it.
local function draw(v, last, retention)
  local _, ttl, b = parse(v)
  local first, n = us, b
  if last >= us then
    first, n = last + 1, 1
  end
  last = first + n - 1
  local ahead = math.floor(last / 1000) - ms
  call('SET', F, last, 'PX', math.max(call('PTTL', F), 2 * ttl, retention, retention + ahead))
  return digits(first), n, last
end

-- Fence before K: a script that breaks off between them has burnt a token, not given one twice.
local function grant(v, last, retention)
  local first, n, fence = draw(v, last, retention)
  local _, ttl = parse(v)
  call('SET', K, v, 'PX', ttl)
  return first, n, fence
end

-- The last step of a script: who is told of a grant must find K its own. A message that can't be sent is
-- made up for by the next poll.
local function tell(v, first, n)
  redis.pcall('PUBLISH', 'lockc:wake:' .. parse(v), v .. ' ' .. first .. ' ' .. n .. ' ' .. K)
end
