-- find_messages
-- The contents of a message, apart from the purchase's own record.
SELECT p.id, u.phone_number, u.email,
    ARRAY (SELECT t.language FROM product_texts t
        WHERE t.product = p.product AND t.display_name IS NOT NULL ORDER BY t.language) AS languages,
    ARRAY (SELECT t.display_name FROM product_texts t
        WHERE t.product = p.product AND t.display_name IS NOT NULL ORDER BY t.language) AS display_names
FROM purchases p
LEFT JOIN users u ON u.id = p.user_id
WHERE p.id = ANY ($1)
