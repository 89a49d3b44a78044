"""The command: its subcommands, the main job, and what they share."""
