INSERT INTO fences (key, token) VALUES (:key, :token)
ON CONFLICT (key) DO UPDATE SET token = excluded.token
WHERE fences.token <= excluded.token
