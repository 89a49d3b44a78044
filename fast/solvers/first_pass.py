"""The pass that reads every row, where the rows are."""

from fast.data import Examined, Source, examine
from fast.data.dask_rows import DaskRows


def examined(X: Source) -> Examined:
    """What a pass over every row found, of which there is one in the life of a source."""
    if "examined" not in X.path_cache:
        if isinstance(X, DaskRows) and X.client is not None:
            from fast.solvers.dask_passes import examine_there

            X.path_cache["examined"] = examine_there(X)
        else:
            X.path_cache["examined"] = examine(X)
    found: Examined = X.path_cache["examined"]
    return found
