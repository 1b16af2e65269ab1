"""Where a process's id was given, and when that process began: by both it is known to be dead."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0003_catalog_stamp")]

    operations = [
        migrations.AddField(
            model_name="process",
            name="born",
            field=models.PositiveBigIntegerField(db_default=0, editable=False),
        ),
        migrations.AddField(
            model_name="process",
            name="place",
            field=models.CharField(blank=True, db_default="", editable=False, max_length=100),
        ),
    ]
