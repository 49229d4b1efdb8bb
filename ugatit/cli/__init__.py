"""The command line: flags with hints, exit codes, progress; the scripts in the checkout's root are thin users of it."""
