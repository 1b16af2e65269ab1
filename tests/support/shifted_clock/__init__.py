"""A server whose clock goes wrong: `DJANGO_SETTINGS_MODULE=tests.support.shifted_clock.settings`,
and `CLOCK` names the file that says by how many seconds."""
