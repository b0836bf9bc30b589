# SPDX-License-Identifier: GPL-2.0
"""A new folder for the results of a run of several scenarios."""

import datetime
from pathlib import Path

from base.common import Failure, commit
from measure.results import as_csv, as_json, write_new


def write_scenario(folder, result):
    """NAME.json and NAME.csv of a result folder."""
    write_new(Path(folder) / f"{result.name}.json", as_json(result.as_data()))
    write_new(Path(folder) / f"{result.name}.csv", as_csv([result]))


def new_folder(parent, now=None):
    """A folder of its own for the results of one run."""
    now = now or datetime.datetime.now(datetime.timezone.utc)
    name = f"{now:%Y%m%dT%H%M%SZ}-{commit()}"
    for number in range(1, 100):
        path = Path(parent) / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
            return path
        except FileExistsError:
            if not Path(parent).is_dir():
                raise Failure(f"{parent} is not a folder") from None
        except OSError as error:
            raise Failure(f"cannot make {path}: {error.strerror}") from None
    raise Failure(f"there are a hundred folders like {path} already")
