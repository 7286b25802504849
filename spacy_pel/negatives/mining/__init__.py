"""Hard-negative mining: streaming top-k search, schedule and mined table."""
