"""Whether somebody should look who read their conversations."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0029_external_session_once'),
    ]

    operations = [
        migrations.AddField(
            model_name='profile',
            name='was_read',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
