"""S6: hundreds of people, or one pretending to be, log in at one moment: whoever is in notices
little, nobody is let in, and nothing stays open afterwards."""

import asyncio
import time
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
import pytest

from chatsite.crowd import AT_THE_DOORS
from tests.crash.remote import House, Server
from tests.support.model_server import ScriptedProvider
from tests.support.waiting import PATIENCE, until_true

pytestmark = [pytest.mark.full, pytest.mark.alone]

# How much longer the slowest page of a member may take beside them: two cores hash passwords.
SLOWER = 20
# Each says it comes from elsewhere, as it would through a proxy: none is refused for its address.
PROXIED = {"TRUST_PROXY": "1"}


async def page(server: Server, client: httpx.AsyncClient) -> float:
    began = time.monotonic()
    answer = await client.get(f"{server.url}/c/{server.house.conversation}/")
    assert answer.status_code == 200
    return time.monotonic() - began


async def guess(server: Server, number: int, token: str) -> bytes:
    """By hand: six hundred clients would cost this process more than the server."""
    form = f"username=name-{number % 90}&password=x&csrfmiddlewaretoken={token}"
    lines = [
        "POST /accounts/login/ HTTP/1.1", f"Host: {urlsplit(server.url).netloc}",
        f"X-Forwarded-For: 10.{number // 250}.{number % 250}.7", f"Origin: {server.url}",
        f"Cookie: parley_csrftoken={token}", "Content-Type: application/x-www-form-urlencoded",
        f"Content-Length: {len(form)}", "Connection: close", "", form,
    ]  # fmt: skip
    where = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    writer.write("\r\n".join(lines).encode())
    answer = await reader.read()
    writer.close()
    return answer.split(b" ", 2)[1]


@pytest.mark.parametrize("guesses", [100, 600])
async def test_pages_come_beside_a_flood_of_log_ins(
    guesses: int, tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    house = House(tmp_path, scripted_provider.base_url, PROXIED)
    with house.served() as server:
        before = server.open_files()
        headers = {"cookie": house.cookie}
        async with httpx.AsyncClient(headers=headers, timeout=PATIENCE) as member:
            await member.get(f"{server.url}/accounts/login/", headers={"cookie": ""})
            token = member.cookies["parley_csrftoken"]
            alone = median([await page(server, member) for _ in range(12)])
            flood = asyncio.gather(*(guess(server, number, token) for number in range(guesses)))
            beside: list[float] = []
            while not flood.done():
                beside.append(await page(server, member))
            codes = await flood
        # Who waits for too long is told to come back.
        assert set(codes) <= {b"200", b"503"}, "somebody was let in, or it broke"
        print(f"\n{guesses}: alone {alone:.3f}, beside median {median(beside):.3f}, "
              f"slowest {max(beside):.3f} s")  # fmt: skip
        assert len(beside) > 5
        assert max(beside) < SLOWER * alone + 0.5
        until_true(lambda: server.open_files() <= before + AT_THE_DOORS + 10)
        assert "Traceback" not in server.log.read_text()
