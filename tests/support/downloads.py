"""What comes of a download that is sent while it is made."""

from typing import Any

from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client


async def content_of(response: Any) -> bytes:
    return b"".join([piece async for piece in response])


async def downloaded(client: AsyncClient, address: str) -> bytes:
    response = await client.get(address)
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment;")
    return await content_of(response)


def download(client: Client, address: str) -> bytes:
    """The same for a test without a loop."""
    response = client.get(address)
    assert response.status_code == 200
    assert response["Content-Disposition"].startswith("attachment;")
    return async_to_sync(content_of)(response)
