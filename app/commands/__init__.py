"""The subcommands of ``elical``, one family a file."""
