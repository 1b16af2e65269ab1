"""Guessing passwords is slow, however many guess at once, and tells nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.test import Client

from chat.models import Attempt
from chat.services.people import attempts
from chat.services.people.links import use_link
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SAID = b"Too many attempts"


def enter(name: str, password: str, address: str = "198.51.100.7", **headers: str) -> Any:
    return Client(REMOTE_ADDR=address).post(
        "/accounts/login/", {"username": name, "password": password}, headers=headers
    )


@pytest.fixture
def bea(db: None) -> User:
    bea = make.a_user("bea")
    bea.set_password("correct horse")
    bea.save()
    return bea


def test_after_five_wrong_passwords_even_the_right_one_must_wait(bea: User) -> None:
    for _ in range(5):
        assert SAID not in enter("bea", "wrong").content
    assert SAID in enter("BEA", "correct horse").content


def test_somebody_elsewhere_can_still_enter(bea: User) -> None:
    for _ in range(60):
        enter("bea", "wrong")
    assert enter("bea", "correct horse", address="203.0.113.9").status_code == 302


def test_the_right_password_forgives_the_wrong_ones(bea: User) -> None:
    for _ in range(3):
        for _ in range(4):
            enter("bea", "wrong")
        assert enter("bea", "correct horse").status_code == 302


def test_people_behind_one_address_do_not_use_it_up(bea: User) -> None:
    for _ in range(attempts.PER_ADDRESS + 5):
        assert enter("bea", "correct horse").status_code == 302


def test_a_name_that_does_not_exist_rests_in_the_same_way() -> None:
    for _ in range(5):
        assert SAID not in enter("nobody", "wrong").content
    assert SAID in enter("nobody", "wrong").content


def test_a_name_that_does_not_exist_takes_as_long(
    bea: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """61: hashing is all that takes time."""
    make.a_user("dora", is_active=False)
    hashed = []
    encode = MD5PasswordHasher.encode

    def count(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", count)
    for at, name in enumerate(("bea", "nobody", "dora"), start=1):
        enter(name, "wrong")
        assert len(hashed) == at


def test_the_administration_has_no_other_way_in(bea: User) -> None:
    form = {"username": "bea", "password": "wrong"}
    client = Client(REMOTE_ADDR="198.51.100.7")
    for _ in range(5):
        client.post("/admin/login/", form)
    entered = client.post("/admin/login/", {**form, "password": "correct horse"})
    assert SAID in entered.content


def test_one_address_cannot_try_many_names() -> None:
    for number in range(attempts.PER_ADDRESS):
        assert SAID not in enter(f"name-{number}", "wrong").content
    assert SAID in enter("one-more", "wrong").content


def test_many_addresses_together_guess_no_more(bea: User) -> None:
    """S7: also a network of IPv6 addresses is one visitor."""
    for number in range(attempts.PER_ACCOUNT):
        assert SAID not in enter("bea", "wrong", f"198.51.100.{number}").content
    assert SAID in enter("bea", "correct horse", "203.0.113.9").content
    for number in range(5):
        enter("cleo", "wrong", f"2001:db8::{number}")
    assert SAID in enter("cleo", "wrong", "2001:db8::ffff").content


def test_a_forged_header_changes_nothing(bea: User, settings: Any) -> None:
    """S7: without a proxy it is not read; with one only its last address counts, and a visit that
    the proxy says nothing about is its own."""
    for number in range(5):
        enter("bea", "wrong", **{"X-Forwarded-For": f"192.0.2.{number}"})
    assert SAID in enter("bea", "correct horse", **{"X-Forwarded-For": "192.0.2.9"}).content
    settings.TRUST_PROXY = True
    seen = "203.0.113.5"
    for number in range(5):
        enter("bea", "wrong", **{"X-Forwarded-For": f"192.0.2.{number}, {seen}"})
    forged = {"X-Forwarded-For": f"192.0.2.99, {seen}"}
    assert SAID in enter("bea", "correct horse", **forged).content
    for said in ("", "unknown", "x" * 500):
        assert SAID in enter("bea", "correct horse", **{"X-Forwarded-For": said}).content


def at_once(number: int, act: Callable[[int], Any]) -> list[Any]:
    """So many threads, which begin at the same moment."""
    start = Barrier(number)

    def one(index: int) -> Any:
        start.wait()
        try:
            return act(index)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(one, range(number)))


@pytest.mark.django_db(transaction=True)
def test_guesses_at_the_same_moment_are_counted_before_they_are_looked_at(bea: User) -> None:
    """S6, S7: of twenty, five reach the password."""
    answers = at_once(20, lambda index: enter("bea", "wrong").content)
    assert sum(SAID in answer for answer in answers) == 15


@pytest.mark.django_db(transaction=True)
def test_a_link_that_is_used_many_times_at_once_lets_one_in(bea: User, capsys: Any) -> None:
    """S10."""
    call_command("login_link", "bea")
    link = capsys.readouterr().out.strip()
    answers = at_once(12, lambda index: Client().post(link)["Location"])
    assert sorted(answers) == ["/"] + ["/accounts/login/"] * 11


@pytest.mark.django_db
def test_of_two_who_both_found_a_link_good_one_comes_in(bea: User) -> None:
    """S10: the same, with the moment between looking and using it as long as one likes."""
    first, second = User.objects.get(pk=bea.pk), User.objects.get(pk=bea.pk)
    assert use_link(first)
    assert not use_link(second)


def test_two_passwords_are_hashed_at_a_time_and_few_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """S6."""
    monkeypatch.setattr(attempts, "PATIENCE", 0.01)

    def taken(index: int) -> str:
        try:
            with attempts.hashing():
                inside.wait(20)
                return "hashed"
        except attempts.Busy:
            inside.wait(20)
            return "busy"

    inside = Barrier(6)
    assert sorted(at_once(6, taken)) == ["busy"] * 4 + ["hashed"] * 2


def test_counters_that_count_nothing_any_more_go(bea: User) -> None:
    enter("bea", "wrong")
    attempts.forget_attempts()
    assert Attempt.objects.count() == 3
    Attempt.objects.update(until=1)
    assert SAID not in enter("bea", "wrong").content
    Attempt.objects.update(until=1)
    attempts.forget_attempts()
    assert not Attempt.objects.exists()
