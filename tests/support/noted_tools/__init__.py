"""An app with a tool that changes something, and says so in a file: for servers of their own, with
`DJANGO_SETTINGS_MODULE=tests.support.noted_tools.settings`."""
