"""What Mohapatra, Jawahar and Kumar 2014 print in Tables 1 to 3 (PASCAL VOC 2011, action classes)."""

#: Columns of Table 1; APPX by the share k of the easy examples that is kept.
COLUMNS = ("binary SVM", "AP-SVM", "APPX 25 %", "APPX 50 %", "APPX 75 %")
#: Table 1: test AP in percent by class.
TEST_AP = {
    "Jumping": (52.580, 55.230, 54.660, 55.640, 54.570),
    "Phoning": (32.090, 32.630, 31.380, 30.660, 29.610),
    "Playing instrument": (35.210, 41.180, 40.510, 38.650, 37.260),
    "Reading": (27.410, 26.600, 27.100, 25.530, 24.980),
    "Riding bike": (72.240, 81.060, 80.660, 79.950, 78.660),
    "Running": (73.090, 76.850, 75.720, 74.670, 72.550),
    "Taking photo": (21.880, 25.980, 25.360, 23.680, 22.860),
    "Using computer": (30.620, 32.050, 32.460, 32.810, 32.840),
    "Walking": (54.400, 57.090, 57.380, 57.430, 55.790),
    "Riding horse": (79.820, 83.290, 83.650, 83.560, 82.390),
}
#: Tables 2, seconds of inference in a whole training, and 3, milliseconds of one.
TIMES = {
    "binary SVM": (0.1068, 0.637),
    "greedy": (0.5660, 13.192),
    "search": (0.0671, 1.565),
    "select": (0.0404, 0.942),
    "APPX 50 %": (0.2341, 8.217),
    "all": (0.0251, 0.689),
}
SECONDS = {name: seconds for name, (seconds, _) in TIMES.items()}
MILLISECONDS = {name: each for name, (_, each) in TIMES.items()}


def means() -> tuple[float, ...]:
    """Mean over the classes of each column of Table 1."""
    return tuple(sum(column) / len(TEST_AP) for column in zip(*TEST_AP.values(), strict=True))
