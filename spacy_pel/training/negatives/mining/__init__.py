"""Hard-negative mining: streaming top-k search, schedule and the table of mined negatives."""
