"""Mutation testing of `fast`: one change at a time in kernels and trainers, and the tests that notice it.

``python -m tests.mutation --mutants 600 --seed 0 --output docs/mutation.json`` writes the record that
`docs/mutation.md` prints. (Wrong *solvers*, and the checks that must catch them, are another thing:
`verification/faulty_solvers`.)
"""
