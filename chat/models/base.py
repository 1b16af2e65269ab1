"""What the rows have in common."""

from django.db import models

from chat.protocol.ids import uuid7


class Row(models.Model):
    """A row whose id sorts by the time it was made."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)

    class Meta:
        abstract = True
