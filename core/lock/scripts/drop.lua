-- Deletes K if it is V's, and touches nothing else: what is left to do where release can't run.
--
-- KEYS    K
-- ARGV    V owner value
-- result  1: deleted, 0: K isn't V's
--
-- One step, as K may be another's the moment after it was read.
if redis.pcall('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
