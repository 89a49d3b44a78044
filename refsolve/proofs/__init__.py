"""The trusted core: what formulas alone prove about a candidate, whoever computed it.

One module per kind of problem. A proof takes arrays and a declaration and returns plain data: a
`refsolve.proofs.certificate.Certificate`, bounds, or an exact number. It knows no solver, no
instance and no verdict; the oracle and the kit judge by the same one.
"""
