UPDATE orders SET state = :state, fence = :token
WHERE id = :id AND fence <= :token
