"""The subcommands of the console command, one file each, found by name."""
