print("test-pattern")
