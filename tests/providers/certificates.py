"""Certificates for loopback: a good one, and each kind of bad one."""

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificate(flaw: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The server's side, and a client that trusts it (unless it is "unknown")."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "scripted provider")])
    now = datetime.now(UTC)
    begin, end = now - timedelta(days=9), now + timedelta(days=9)
    if flaw == "expired":
        end = now - timedelta(days=1)
    host = ip_address("192.0.2.1" if flaw == "other host" else "127.0.0.1")
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(host)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "both.pem")
        path.write_bytes(pem + secret)
        server_side.load_cert_chain(path)
    client_side = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if flaw != "unknown":
        client_side.load_verify_locations(cadata=pem.decode())
    return server_side, client_side
