"""The shipped Letter data and the mixtures."""

import numpy as np
import pytest

from fast import errors
from fast.datasets import (
    load_letter,
    make_clusters,
    make_deep_features,
    make_gaussian_mixture,
    make_heavy_tails,
    make_images,
    make_one_hot,
    make_text,
)

MADE = [
    make_gaussian_mixture, make_deep_features, make_images, make_heavy_tails, make_one_hot, make_clusters
]  # fmt: skip


def test_letter_has_the_published_sizes_and_parts():
    X, y = load_letter()
    assert X.shape == (20_000, 16)
    assert (X.dtype, y.dtype) == (np.float64, np.int64)
    assert set(np.unique(X)) == set(range(16))
    assert list(np.unique(y)) == list(range(26))
    # the first lines of the UCI file: T, I, D, N, G
    assert [chr(65 + c) for c in y[:5]] == ["T", "I", "D", "N", "G"]
    assert X[0].tolist() == [2, 8, 3, 5, 1, 8, 13, 0, 6, 6, 10, 8, 0, 8, 0, 8]
    parts = {name: load_letter(name) for name in ("train", "validation", "test")}
    assert {n: len(p[1]) for n, p in parts.items()} == {
        "train": 10_500,
        "validation": 4_500,
        "test": 5_000,
    }
    # the parts are the whole: the same multiset of rows
    rows = np.concatenate([np.column_stack(part) for part in parts.values()])
    whole = np.column_stack((X, y))
    np.testing.assert_array_equal(
        rows[np.lexsort(rows.T)],
        whole[np.lexsort(whole.T)],
    )


def test_unknown_part():
    with pytest.raises(errors.InvalidParameterError, match=r"'dev'.*train"):
        load_letter("dev")


def test_damaged_file(monkeypatch, tmp_path):
    (tmp_path / "data").mkdir()
    monkeypatch.setattr("fast.datasets.files", lambda package: tmp_path)
    with pytest.raises(errors.DatasetError, match="reinstall"):
        load_letter()
    (tmp_path / "data" / "letter.npz").write_bytes(b"not an archive")
    with pytest.raises(errors.DatasetError, match="reinstall"):
        load_letter()


def test_mixture_is_reproducible_balanced_and_scaled():
    X, y = make_gaussian_mixture(1000, 7, 50, random_state=3)
    again = make_gaussian_mixture(1000, 7, 50, random_state=np.random.default_rng(3))
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    counts = np.bincount(y)
    assert counts.max() - counts.min() <= 1
    assert np.median(np.linalg.norm(X, axis=1)) == pytest.approx(np.sqrt(1 + 16 / 50), rel=0.1)
    means = np.array([X[y == j].mean(axis=0) for j in range(7)]) * np.sqrt(50)
    within = (X - means[y] / np.sqrt(50)) * np.sqrt(50)
    assert within.std() == pytest.approx(1.0, rel=0.05)
    assert np.linalg.norm(means, axis=1).mean() == pytest.approx(4.0, rel=0.3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [((5, 1, 2), "2 <= m"), ((3, 4, 2), "2 <= m <= n"), ((0, 2, 2), "n: 0"), ((5, 2, 1.5), "d: ")],
)
@pytest.mark.parametrize("make", [*MADE, make_text])
def test_sizes_of_what_is_made(make, sizes, message):
    with pytest.raises(errors.InvalidParameterError, match=message):
        make(*sizes)


@pytest.mark.parametrize("make", MADE)
def test_separation_of_what_is_made(make):
    with pytest.raises(errors.InvalidParameterError, match="separation: -1"):
        make(5, 2, 2, separation=-1)


def test_deep_features_have_length_one_and_a_falling_spectrum():
    X, y = make_deep_features(4000, 7, 30, random_state=3)
    np.testing.assert_array_equal(X, make_deep_features(4000, 7, 30, random_state=3)[0])
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0, rtol=1e-14)
    assert np.ptp(np.bincount(y)) <= 1
    within = X - np.array([X[y == j].mean(axis=0) for j in range(7)])[y]
    sizes = np.linalg.svd(within, compute_uv=False) ** 2
    assert sizes[4] / sizes[0] == pytest.approx(1 / 5, rel=0.35)
    assert sizes[29] / sizes[4] == pytest.approx(5 / 30, rel=0.35)


@pytest.mark.parametrize("make", MADE)
def test_what_is_made_is_reproducible(make):
    X, y = make(500, 4, 7, random_state=3)
    again = make(500, 4, 7, random_state=3)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    assert (X.shape, X.dtype, y.dtype) == ((500, 7), np.float64, np.int64)
    counts = np.bincount(y, minlength=4)
    if make is make_heavy_tails:
        assert counts[0] == 400
        counts = counts[1:]
    assert np.ptp(counts) <= 15 if make is make_heavy_tails else np.ptp(counts) <= 1


def test_images_are_not_negative_and_their_spectrum_falls():
    X, _ = make_images(2000, 5, 40, random_state=3)
    assert X.min() == 0.0
    assert X.max() == 1.0
    assert 0.2 < (X == 0.0).mean() < 0.6
    sizes = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    assert sizes[19] < 0.25 * sizes[0]


def test_heavy_tails():
    X, _ = make_heavy_tails(20_000, 5, 6, random_state=3)
    assert np.abs(X).max(axis=0).min() > 15.0
    assert 30.0 < np.abs(X).max() <= 120.0
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.01)


def test_one_hot_triples_are_one_of_four_letters():
    X, y = make_one_hot(3000, 3, 30, random_state=3)
    letters = X.reshape(3000, 10, 3).sum(axis=2)
    assert set(np.unique(X)) == set(np.unique(letters)) == {0.0, 1.0}
    assert (letters.mean(axis=0) < 1.0).all()
    apart = [np.ptp([X[y == j].mean(axis=0) for j in range(3)], axis=0)[part].max()
             for part in (slice(3), slice(27, 30))]  # fmt: skip
    assert apart[0] > apart[1]


def test_clusters_are_small_and_narrow():
    X, _y = make_clusters(600, 4, 5, random_state=3)
    nearest = np.sort(np.linalg.norm(X[:, None] - X, axis=2), axis=1)
    assert np.median(nearest[:, 2]) < 1.0 < np.median(nearest[:, 40])


def test_text_is_sparse_its_words_are_rare_and_topics_have_words_of_their_own():
    X, y = make_text(2000, 4, 3000, words=50, imbalance=1.0, random_state=3)
    again = make_text(2000, 4, 3000, words=50, imbalance=1.0, random_state=3)
    assert (again[0] != X).nnz == 0
    np.testing.assert_array_equal(y, again[1])
    assert (X.dtype, X.indices.dtype, y.dtype, X.format) == (float, np.int32, np.int64, "csr")
    assert X.has_canonical_format
    np.testing.assert_allclose(X.multiply(X).sum(axis=1), 1.0, rtol=1e-12)
    assert 25 < X.nnz / 2000 < 50
    seen = np.sort(np.bincount(X.indices, minlength=3000))
    assert seen[-30:].sum() > seen[:1500].sum()
    sizes = np.bincount(y)
    np.testing.assert_allclose(sizes, sizes.sum() / np.arange(1, 5) / (25 / 12), rtol=0.1)
    means = np.array([X[y == j].mean(axis=0) for j in range(4)])
    right = (X @ means.T).argmax(axis=1) == y
    assert right.mean() > 0.8
    assert make_text(5, 5, 9, words=0.1, random_state=0)[0].shape == (5, 9)
    with pytest.raises(errors.InvalidParameterError, match="words: -1"):
        make_text(5, 2, 2, words=-1)
