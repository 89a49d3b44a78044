"""Trainers with one error each, made from right ones."""


def wrong(base, dropped=(), told=None, **used):
    """A trainer that ignores some arguments of fit, solves with other parameters, or tells otherwise.

    ``used`` are parameters of the problem that it solves instead, as functions of the model, y and
    the keywords of fit; ``told`` are attributes of the fit, as functions of the model and X.
    """

    class Wrong(base):
        def fit(self, X, y, *arguments, **given):
            asked = {name: getattr(self, name) for name in used}
            instead = {name: value(self, y, given) for name, value in used.items()}
            kept = {name: value for name, value in given.items() if name not in dropped}
            self.set_params(**instead)
            super().fit(X, y, *arguments, **kept)
            self.set_params(**asked)
            for name, value in (told or {}).items():
                setattr(self, name, value(self, X))
            return self

    return Wrong


def half(model, X):
    """Half of the weights that the certificate belongs to."""
    return 0.5 * model.coef_


def twice_C(model, y, given):
    """Twice the C: consistent with itself, and of another problem."""
    return 2 * model.C
