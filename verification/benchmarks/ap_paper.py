"""What Mohapatra, Jawahar and Kumar 2014 print in Tables 1 to 3 (PASCAL VOC 2011, action classes)."""

from verification.benchmarks import printed

#: Table 1: its columns, APPX by the share k of the easy examples that is kept, and test AP in percent by class.
COLUMNS, TEST_AP = printed.rows("ap_table_1")
#: Tables 2, seconds of inference in a whole training, and 3, milliseconds of one.
TIMES = printed.rows("ap_tables_2_3")[1]
SECONDS = {name: seconds for name, (seconds, _) in TIMES.items()}
MILLISECONDS = {name: each for name, (_, each) in TIMES.items()}


def means() -> tuple[float, ...]:
    """Mean over the classes of each column of Table 1."""
    return tuple(sum(column) / len(TEST_AP) for column in zip(*TEST_AP.values(), strict=True))
