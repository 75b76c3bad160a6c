-- What acquire does where its uncontended path doesn't apply, and requeue behind the release of `gone`.
-- `owner` is the value at K, false where K is free for the queue. Everything that decides is read before
-- the first write, for a script that fails is not rolled back.
local function enter(v, owner, wait, ticket, retention, gone)
  local last, unusable = read_fence()
  if unusable then
    return unusable
  end
  local _, ttl = parse(v)
  local window = math.max(3000, math.min(ttl, 30000))
  local place = call('ZSCORE', Q, v)
  local tail = not place and call('ZRANGE', Q, -1, -1, 'WITHSCORES')[2]
  local pttl = owner and call('PTTL', K)
  local next = not owner and (first_live(v, gone) or v)

  if gone then
    leave(gone)
  end

  if owner == v then
    -- Tokens are drawn anew, so that a client that asks again needn't know what it was told before.
    -- PEXPIRE comes first since full memory never denies it.
    call('PEXPIRE', K, math.max(pttl, ttl))
    local first, n = draw(v, last, retention)
    leave(v)
    return {1, first, n}
  end

  if next == v then
    if place then
      leave(v)
    end
    local first, n = grant(v, last, retention)
    purge(v)
    return {1, first, n}
  end

  local first, n
  if next then
    leave(next)
    first, n, last = grant(next, last, retention)
    owner = next
    pttl = call('PTTL', K)
  end
  local lockc = string.sub(owner, 1, 4) == 'lc1:' and 1 or 0

  local reply
  if wait then
    -- A poll begins with PEXPIRE, which full memory never denies; a new entry with ZADD, which it does.
    local keep = math.max(2 * window, 60000)
    if not place then
      place = ticket ~= '0' and ticket or math.max(us, tonumber(tail or 0) + 1)
      call('ZADD', Q, place, v)
    end
    call('PEXPIRE', Q, math.max(call('PTTL', Q), keep))
    call('ZADD', S, ms + window, v)
    call('PEXPIRE', S, math.max(call('PTTL', S), keep))
    purge(v)
    local mark = last > 0 and last or us
    reply = {2, pttl, call('ZRANK', Q, v), digits(tonumber(place)), digits(mark), lockc}
  else
    purge(v)
    reply = {0, pttl, call('ZCARD', Q), lockc}
  end
  if next then
    tell(next, first, n)
  end
  return reply
end
