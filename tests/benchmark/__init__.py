"""What `manage.py bench` measures, and the processes it measures with."""
