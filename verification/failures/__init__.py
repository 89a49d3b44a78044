"""What is left of a failure: made smaller, stored as a file, run again, explained."""
