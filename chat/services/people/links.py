"""Log-in links: each lets one person in, once."""

from django.contrib.auth.models import User
from django.utils import timezone


def use_link(person: User) -> bool:
    """Whether it is this use of a link that lets somebody in: of several at the same moment one is.

    A link is good for as long as its person has not come in since, so the moment of their last
    log-in is what is compared and set.
    """
    unused = User.objects.filter(pk=person.pk, last_login=person.last_login, is_active=True)
    return bool(unused.update(last_login=timezone.now()))
