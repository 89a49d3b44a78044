"""Average precision: the most violated ranking (greedy, search, select, all, divide and conquer) and its queries."""
