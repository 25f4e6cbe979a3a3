"""What Headscope costs, measured beside what people use today: `python -m benchmarks.NAME`."""
