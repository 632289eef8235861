"""The library of this checkout, and the files of the config: looked at before anything is made of what they hold."""

import os
import sys
from pathlib import Path

# The code that is fingerprinted is the code that runs: that of this checkout, wherever else the package is installed.
SOURCE = Path(workflow.basedir, "src").resolve()
PACKAGES = [str(SOURCE), str(Path(workflow.basedir, "construction").resolve())]
sys.path[:0] = PACKAGES
os.environ |= {"PYTHONPATH": os.pathsep.join([*PACKAGES, os.getenv("PYTHONPATH", "")]).rstrip(os.pathsep)}

from prasanga.config_files import read_config
from prasanga.errors import InputError
from prasanga.logs import said_of_failure


def readable(function, *arguments):
    """Call `function`; an InputError of ours ends the run as a message, not as a traceback of Snakemake's.

    So does any other error: what the system refuses, with its file; what is our mistake, with where its traceback lies.
    """
    try:
        return function(*arguments)
    except InputError as error:
        raise WorkflowError(str(error)) from None
    except Exception as error:
        raise WorkflowError(said_of_failure(error, "logs/planning.log")) from None


if workflow.is_main_process:
    for file in workflow.overwrite_configfiles or ["config.yaml"]:
        readable(read_config, file)
