"""What every server of one installation must have in common."""

from django.db import models

from chat.models.secrets import EncryptedField


class Installation(models.Model):
    """One row at most: a secret that the keys are tried on, and the mark of the folder of files."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    secret = EncryptedField()
    files = models.CharField(max_length=32, blank=True)

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_installation")]

    def __str__(self) -> str:
        return "the secret that keys are tried on"
