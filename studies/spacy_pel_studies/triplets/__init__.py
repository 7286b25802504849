"""Training dual encoders on triplets: mentions or prototypes, as Le & Nguyen (2023) do."""
