"""How allauth keeps what a second factor is made of: encrypted, like API keys."""

from allauth.mfa.adapter import DefaultMFAAdapter

from chat.models.secrets import encrypted, opened


class Unreadable(Exception):
    """No key of ours opens it: it must not be taken for an empty secret, whose codes all know."""


class EncryptedAuthenticators(DefaultMFAAdapter):
    def encrypt(self, text: str) -> str:
        return encrypted(text)

    def decrypt(self, encrypted_text: str) -> str:
        secret = opened(encrypted_text)
        if not secret:
            raise Unreadable
        return secret
