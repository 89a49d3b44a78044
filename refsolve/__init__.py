"""What each problem is: declarations, the CVXPY oracle and the certificates."""
