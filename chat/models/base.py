"""What every row has: an id that sorts by time."""

from django.db import models

from chat.protocol.ids import uuid7


class Row(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)

    class Meta:
        abstract = True
