"""How often somebody has tried to come in of late, or has sent something."""

from django.db import models


class Attempt(models.Model):
    """A counter: of an address, of an account, or of both together. Neither stands here in the
    clear. Shared by all processes, and kept over a restart."""

    key = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField()
    # When counting begins anew, in seconds since 1970.
    until = models.BigIntegerField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.count}"
