DROP FUNCTION system_balance, strike_trial_balance, moves_beside_wallets, moves_of_wallets;
DROP TRIGGER unmatched_vends_follow_trial_balances ON unmatched_vends;
DROP TRIGGER incidents_follow_trial_balances ON incidents;
DROP TRIGGER accounts_begin_after_trial_balances ON accounts;
DROP FUNCTION begin_after_trial_balances, share_trial_balances;
DROP TABLE trial_balance_lines;
DROP TABLE trial_balances;
