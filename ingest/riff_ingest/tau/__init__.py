"""Read what tau2-bench and tau3-bench write: runs, their calls, and what was judged of them."""
