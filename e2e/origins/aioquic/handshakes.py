"""Errors of a QUIC server before HTTP/3 begins. Each behaviour creates a server from its configuration."""

import os

from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.buffer import Buffer
from aioquic.quic.events import HandshakeCompleted
from aioquic.quic.packet import (
    QuicErrorCode,
    QuicPacketType,
    QuicProtocolVersion,
    encode_quic_retry,
    pull_quic_header,
)

import answers

# RFC 9001 section 4.8: CRYPTO_ERROR carries a TLS alert; this is access_denied.
ALERT_ACCESS_DENIED = QuicErrorCode.CRYPTO_ERROR + 49
ALERT_CERTIFICATE_REQUIRED = QuicErrorCode.CRYPTO_ERROR + 116
# H3_INTERNAL_ERROR, as an application error code.
APPLICATION_CODE = 0x102
STATELESS_RESET_BYTES = 43
TOKEN_BYTES = 16


def other_version(configuration):
    """Supports only QUIC version 2."""
    configuration.supported_versions = [QuicProtocolVersion.VERSION_2]
    return QuicServer(configuration=configuration)


def other_alpn(configuration):
    configuration.alpn_protocols = ["hq-interop"]
    return QuicServer(configuration=configuration)


class RetryForever(QuicServer):
    """Never accepts a token, not even its own."""

    def datagram_received(self, data, addr):
        header = pull_quic_header(Buffer(data=data), host_cid_length=8)
        if header.packet_type == QuicPacketType.INITIAL:
            retry = encode_quic_retry(
                version=header.version,
                source_cid=os.urandom(8),
                destination_cid=header.source_cid,
                original_destination_cid=header.destination_cid,
                retry_token=os.urandom(TOKEN_BYTES),
            )
            self._transport.sendto(retry, addr)


def retry_once(configuration):
    """Sends Retry to every client, as P2's example server does, and then responds."""
    return QuicServer(configuration=configuration, create_protocol=answers.Answer, retry=True)


def closing(error_code, frame_type, reason, when_complete):
    """Closes with an error code: a transport error if there is a frame type, otherwise an application error."""

    class Closing(QuicConnectionProtocol):
        def datagram_received(self, data, addr):
            super().datagram_received(data, addr)
            if not when_complete:
                self.say_goodbye()

        def quic_event_received(self, event):
            if when_complete and isinstance(event, HandshakeCompleted):
                self.say_goodbye()

        def say_goodbye(self):
            self._quic.close(error_code=error_code, frame_type=frame_type, reason_phrase=reason)
            self.transmit()

    return lambda configuration: QuicServer(configuration=configuration, create_protocol=Closing)


class Forgetful(answers.Silent):
    """Completes the handshake and then loses its state, as after a restart (RFC 9000 section 10.3)."""

    complete = False

    def datagram_received(self, data, addr):
        if self.complete:
            self.reset(addr)
        else:
            super().datagram_received(data, addr)

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            self.complete = True

    def reset(self, addr):
        token = self._quic._host_cids[0].stateless_reset_token
        noise = bytes([0x40 | os.urandom(1)[0] & 0x3F]) + os.urandom(STATELESS_RESET_BYTES - TOKEN_BYTES - 1)
        self._transport.sendto(noise + token, addr)


def forgetful(configuration):
    return QuicServer(configuration=configuration, create_protocol=Forgetful)


BEHAVIOURS = {
    "other-version": other_version,
    "other-alpn": other_alpn,
    "retry-for-ever": lambda configuration: RetryForever(configuration=configuration),
    "retry-once": retry_once,
    "alert": closing(ALERT_ACCESS_DENIED, 0, "denied", when_complete=False),
    "certificate-required": closing(ALERT_CERTIFICATE_REQUIRED, 0, "", when_complete=True),
    "refuse": closing(QuicErrorCode.CONNECTION_REFUSED, 0, "not today", when_complete=False),
    "close-transport": closing(QuicErrorCode.INTERNAL_ERROR, 0, "out of order", when_complete=True),
    "close-application": closing(APPLICATION_CODE, None, "gone fishing", when_complete=True),
    "stateless-reset": forgetful,
}
