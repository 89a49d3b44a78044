"""Average precision and NDCG: the most violated ranking (greedy, search, select, all, divide and conquer), queries.

The recursion of divide and conquer is that of Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar, CVPR 2018.
"""
