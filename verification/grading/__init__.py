"""Marks what is handed in for an exercise: in a process of its own, by the kit, in words."""
