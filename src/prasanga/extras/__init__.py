"""What is beyond a study: studies compared, and the dossier of a paper. No other package but the command imports it."""
