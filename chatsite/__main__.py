"""`python -m chatsite`: how a supervisor starts its servers, wherever Parley is installed."""

from chatsite.command_line import main

main()
