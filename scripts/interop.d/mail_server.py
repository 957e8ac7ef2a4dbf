"""A private mail server on loopback: aiosmtpd, which requires TLS and a password, and stores the messages."""

import email
import email.policy
import logging
import ssl
from contextlib import contextmanager
from pathlib import Path

import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

from processes import free_port


class Keeper:
    def __init__(self):
        self.kept = []

    async def handle_DATA(self, server, session, envelope):
        self.kept.append((session.ssl is not None, session.authenticated, envelope.rcpt_tos, envelope.content))
        return "250 kept"

    def arrived(self):
        """The received messages: whether TLS and a password were used, the recipients, and the parsed message."""
        policy = email.policy.default
        return [
            (secured and bool(known), to, email.message_from_bytes(content, policy=policy))
            for secured, known, to, content in self.kept
        ]


@contextmanager
def mail_server(place: Path, user: str, password: str):
    """Yields its port, the certificate authority to trust, and the object that stores the messages."""
    authority = trustme.CA()
    certificate = place / "mail-server-ca.pem"
    authority.cert_pem.write_to_path(str(certificate))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)

    def authenticate(server, session, envelope, mechanism, data):
        expected = LoginPassword(user.encode(), password.encode())
        return AuthResult(success=data == expected, auth_data=user if data == expected else None)

    # It logs warnings about its own configuration.
    logging.getLogger("mail.log").setLevel(logging.ERROR)
    keeper = Keeper()
    port = free_port()
    controller = Controller(
        keeper,
        hostname="127.0.0.1",
        port=port,
        tls_context=context,
        require_starttls=True,
        auth_required=True,
        authenticator=authenticate,
    )
    controller.start()
    try:
        yield port, certificate, keeper
    finally:
        controller.stop()
