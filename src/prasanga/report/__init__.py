"""Tables, figures and the page of a study, made from its results alone; nothing here starts a model."""

from importlib.resources import files

ASSETS = files(__name__) / "templates"
"""Templates, labels, wordings, styles, scripts and fonts of the page and the tables.

`vendor/vendor.json` has package, version, license and checksum of each file of others. They are the files of the npm
packages, unchanged; since matplotlib reads no WOFF2, each font is there unpacked as well.
"""
