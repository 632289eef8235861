"""The config of a study: one description of every key, the reading of a file, and the reference page."""

from prasanga.config.reading import (
    CONFIGS,
    complete,
    config_of,
    describe_config,
    describe_key,
    make_schema,
    read_config,
    read_study,
)
