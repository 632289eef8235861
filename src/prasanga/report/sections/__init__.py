"""The sections of the page: each takes the config and the results of a study, and returns itself, or None."""
