"""A log-in server on this machine: it speaks OpenID Connect as one does, or wrongly on request."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

CLIENT = "parley"
SECRET = "issuer-client-secret-canary"


def _key() -> RSAPrivateKey:
    return generate_private_key(public_exponent=65537, key_size=2048)


KEY, STRANGE_KEY = _key(), _key()


@dataclass
class Issuer:
    """Whom it says somebody is, what it does wrong, and what it was asked."""

    url: str = ""
    person: dict[str, Any] = field(default_factory=lambda: {"sub": "anna-1"})
    # What the token says instead of the truth; what is None is left out.
    claims: dict[str, Any] = field(default_factory=dict)
    # How the token is signed: its key, its algorithm, its header.
    sign: Callable[[dict[str, Any]], str] | None = None
    # Paths that answer with a status alone, or lead on to an address.
    broken: dict[str, int | str] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    calls_itself: str = ""
    asked: list[str] = field(default_factory=list)
    grants: dict[str, dict[str, str]] = field(default_factory=dict)

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.calls_itself or self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "userinfo_endpoint": f"{self.url}/userinfo",
            "jwks_uri": f"{self.url}/jwks",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key(), as_dict=True)
        return {"keys": [{**public, "kid": "one", "use": "sig", "alg": "RS256"}]}

    def authorize(self, query: dict[str, str]) -> str:
        """Whoever is sent here is logged in at once, and sent back."""
        assert query["response_type"] == "code"
        assert "openid" in query["scope"].split()
        assert query["client_id"] == CLIENT
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.grants)}"
        self.grants[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        grant = self.grants.pop(form.get("code", ""), None)
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            grant is None
            or grant["code_challenge"] != challenge
            or grant["redirect_uri"] != form.get("redirect_uri")
        ):
            return 400, {"error": "invalid_grant"}
        if (form.get("client_id"), form.get("client_secret")) != (CLIENT, SECRET):
            return 401, {"error": "invalid_client"}
        now = int(time.time())
        said = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300,
                "nonce": grant["nonce"], "sub": self.person["sub"], **self.claims}  # fmt: skip
        said = {name: value for name, value in said.items() if value is not None}
        token = self.sign(said) if self.sign else signed(said)
        return 200, {"access_token": "at-canary", "token_type": "Bearer", "id_token": token}


def signed(claims: dict[str, Any], key: Any = KEY, alg: str = "RS256", **header: str) -> str:
    return jwt.encode(claims, key, algorithm=alg, headers={"kid": "one", **header})


class _Handler(BaseHTTPRequestHandler):
    issuer: Issuer

    def do_GET(self) -> None:
        path, query = self._asked()
        if path == "/authorize":
            self._answer(302, location=self.issuer.authorize(query))
        elif path == "/.well-known/openid-configuration":
            self._answer(200, self.issuer.configuration())
        elif path == "/jwks":
            self._answer(200, self.issuer.keys())
        elif path == "/userinfo":
            assert self.headers["Authorization"] == "Bearer at-canary"
            self._answer(200, {**self.issuer.person, **self.issuer.userinfo})

    def do_POST(self) -> None:
        path, _query = self._asked()
        length = int(self.headers["Content-Length"])
        form = dict(parse_qs(self.rfile.read(length).decode(), keep_blank_values=True))
        if path == "/token":
            status, answer = self.issuer.token({name: values[0] for name, values in form.items()})
            self._answer(status, answer)

    def _asked(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        self.issuer.asked.append(parts.path)
        match self.issuer.broken.get(parts.path):
            case int(status):
                self._answer(status, {"error": "broken"})
                return "", {}
            case str(elsewhere):
                self._answer(307, location=elsewhere)
                return "", {}
        return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}

    def _answer(self, status: int, value: Any = None, location: str = "") -> None:
        body = json.dumps(value).encode() if value is not None else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """On a free port of this machine, until the end."""
    issuer = Issuer()
    handler = type("Handler", (_Handler,), {"issuer": issuer})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()
