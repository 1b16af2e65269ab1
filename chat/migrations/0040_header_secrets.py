"""Values of extra headers, which are often keys, are encrypted as API keys are."""

from django.db import migrations

from chat.models.secrets import encrypted


def encrypt(apps, schema_editor):
    providers = apps.get_model("chat", "Provider")
    for provider in providers.objects.exclude(extra_headers={}):
        provider.extra_headers = {
            name: encrypted(str(text)) for name, text in provider.extra_headers.items()
        }
        provider.save(update_fields=["extra_headers"])


class Migration(migrations.Migration):

    dependencies = [
        ('chat', '0039_hand_over'),
    ]

    operations = [
        migrations.RunPython(encrypt, migrations.RunPython.noop),
    ]
