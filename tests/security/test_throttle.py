"""Guessing passwords is slow, and tells nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _forgiven() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def enter(name: str, password: str, address: str = "198.51.100.7") -> Any:
    return Client(REMOTE_ADDR=address).post(
        "/accounts/login/", {"username": name, "password": password}
    )


def test_after_five_wrong_passwords_even_the_right_one_must_wait() -> None:
    bea = make.a_user("bea")
    bea.set_password("correct horse")
    bea.save()
    for _ in range(5):
        assert b"Too many" not in enter("bea", "wrong").content
    assert b"Too many attempts" in enter("bea", "correct horse").content


def test_somebody_elsewhere_can_still_enter() -> None:
    bea = make.a_user("bea")
    bea.set_password("correct horse")
    bea.save()
    for _ in range(6):
        enter("bea", "wrong")
    assert enter("bea", "correct horse", address="203.0.113.9").status_code == 302


def test_the_right_password_forgives_the_wrong_ones() -> None:
    bea = make.a_user("bea")
    bea.set_password("correct horse")
    bea.save()
    for _ in range(3):
        for _ in range(4):
            enter("bea", "wrong")
        assert enter("bea", "correct horse").status_code == 302


def test_a_name_that_does_not_exist_rests_in_the_same_way() -> None:
    for _ in range(5):
        assert b"Too many" not in enter("nobody", "wrong").content
    assert b"Too many attempts" in enter("nobody", "wrong").content


def test_the_administration_has_no_other_way_in() -> None:
    bea = make.a_user("bea", is_staff=True)
    bea.set_password("correct horse")
    bea.save()
    form = {"username": "bea", "password": "wrong"}
    client = Client(REMOTE_ADDR="198.51.100.7")
    for _ in range(5):
        client.post("/admin/login/", form)
    entered = client.post("/admin/login/", {**form, "password": "correct horse"})
    assert b"Too many attempts" in entered.content
