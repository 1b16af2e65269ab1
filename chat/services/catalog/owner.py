"""The owner of an installation: its first administrator."""

from django.contrib.auth.models import User


def find_owner() -> User | None:
    return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()


def create_owner(username: str) -> User:
    """An administrator without a password, because a link logs them in."""
    owner, _ = User.objects.get_or_create(username=username)
    owner.is_superuser = owner.is_staff = owner.is_active = True
    owner.set_unusable_password()
    owner.save()
    return owner
