INSERT INTO orders (id, state, fence) VALUES (:id, :state, :token)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, fence = excluded.fence
WHERE orders.fence <= excluded.fence
