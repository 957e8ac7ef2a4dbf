-- Expand. The receipts of an organisation may end with lines of its own, such as its address. The operator writes them.
ALTER TABLE organisations ADD COLUMN receipt_footer text
    CONSTRAINT organisations_receipt_footer_check CHECK (
        char_length(receipt_footer) BETWEEN 1 AND 400 AND receipt_footer !~ '[\x01-\x09\x0b-\x1f\x7f]'
    );
GRANT UPDATE (receipt_footer) ON organisations TO vendgate_operator;
