"""Malicious QUIC peers: each sends unlimited data before, during or after the handshake. They stop by themselves, long
after any client with limits has left. Each behaviour creates a server from its configuration."""

import asyncio
import os

from aioquic.asyncio.server import QuicServer
from aioquic.buffer import Buffer, encode_uint_var
from aioquic.quic import connection
from aioquic.quic.connection import QuicConnectionId
from aioquic.quic.crypto import CryptoPair
from aioquic.quic.packet import QuicProtocolVersion, encode_quic_retry, pull_quic_header

import answers

# Sixteen times what is read, and in bursts, so that the peers of one process take turns.
FLOOD_BYTES, BURST_DATAGRAMS = 16 * 2**20, 32
MAX_DATAGRAMS = 20_000
WIDE_DATAGRAM_BYTES, NARROW_DATAGRAM_BYTES = 1200, 20
CRYPTO_FRAME, PADDING_FRAME = 0x06, 0x00
CRYPTO_BYTES = 1000
# A ServerHello that declares the maximum length of a handshake message, and never ends.
SERVER_HELLO = b"\x02\x00\xff\xff\x03\x03"
CONNECTION_IDS = 4000
CHAIN_CERTIFICATES = 1500
STATUS_103_BYTES = 4000
CHUNK = bytes(16 * 1024)
# The indexed field line of the static table's longest entry (RFC 9204 appendix A, 85), after a prefix without a dynamic
# table.
QPACK_PREFIX, QPACK_LONGEST = b"\x00\x00", b"\xff\x16"
QPACK_LINES = 100_000
UNKNOWN_FRAME = 0x21


class Flood(asyncio.DatagramProtocol):
    """Responds to a first flight with endless datagrams; subclasses define which."""

    def connection_made(self, transport):
        self.transport = transport
        self.floods = {}

    def datagram_received(self, data, addr):
        if addr not in self.floods:
            self.floods[addr] = asyncio.ensure_future(self.flood(data, addr))

    async def flood(self, data, addr):
        header = pull_quic_header(Buffer(data=data), host_cid_length=8)
        sent = 0
        for number in range(MAX_DATAGRAMS):
            datagram = self.datagram(header, number)
            self.transport.sendto(datagram, addr)
            sent += len(datagram)
            if sent > FLOOD_BYTES:
                break
            if number % BURST_DATAGRAMS == 0:
                await asyncio.sleep(0.001)


class Wide(Flood):
    def datagram(self, header, number):
        return b"\x40" + bytes(WIDE_DATAGRAM_BYTES)


class Narrow(Flood):
    def datagram(self, header, number):
        return b"\x40" + bytes(NARROW_DATAGRAM_BYTES)


class Retries(Flood):
    """Resembles Retry, but is addressed to another client."""

    def datagram(self, header, number):
        return encode_quic_retry(
            version=QuicProtocolVersion.VERSION_1,
            source_cid=os.urandom(8),
            destination_cid=os.urandom(8),
            original_destination_cid=header.destination_cid,
            retry_token=os.urandom(16),
        )


def initial(header, number, payload):
    """An Initial packet to the sender of that header (RFC 9000 section 17.2.2)."""
    crypto = CryptoPair()
    crypto.setup_initial(header.destination_cid, is_client=False, version=header.version)
    payload += bytes(max(0, 1150 - len(payload)))
    ids = bytes([len(header.source_cid)]) + header.source_cid + b"\x08" + b"hostile!"
    length = (0x4000 | 2 + len(payload) + 16).to_bytes(2, "big")
    head = b"\xc1" + header.version.to_bytes(4, "big") + ids + b"\x00" + length
    return crypto.encrypt_packet(head + (number & 0xFFFF).to_bytes(2, "big"), payload, number)


def crypto_frame(offset, data):
    return bytes([CRYPTO_FRAME]) + encode_uint_var(offset) + encode_uint_var(len(data)) + data


class CryptoBeyond(Flood):
    """CRYPTO frames at ever higher offsets, after a gap that is never filled."""

    def datagram(self, header, number):
        return initial(header, number, crypto_frame(1 + number * CRYPTO_BYTES, bytes(CRYPTO_BYTES)))


class CryptoAgain(Flood):
    """The beginning of one message, repeated."""

    def datagram(self, header, number):
        return initial(header, number, crypto_frame(0, SERVER_HELLO + bytes(CRYPTO_BYTES)))


def large_chain(configuration):
    """A chain of a megabyte, in one message of the handshake."""
    connection.CRYPTO_BUFFER_SIZE = 4 * 2**20
    configuration.certificate_chain = [configuration.certificate] * CHAIN_CERTIFICATES
    return QuicServer(configuration=configuration, create_protocol=answers.Answer)


class ConnectionIds(answers.Silent):
    """More connection IDs than the client allows (RFC 9000 section 5.1.1)."""

    def connected(self):
        super().connected()
        first = self._quic._host_cid_seq
        for number in range(first, first + CONNECTION_IDS):
            cid = QuicConnectionId(
                cid=os.urandom(8), sequence_number=number, stateless_reset_token=os.urandom(16)
            )
            self._quic._host_cids.append(cid)


class Endless(answers.Peer):
    """Writes to a stream as much as flow control allows; subclasses define what and where."""

    async def write(self, stream, first, again):
        self.send(stream, first)
        for _ in range(FLOOD_BYTES // len(again)):
            self.send(stream, again)
            self.transmit()
            await asyncio.sleep(0.001)

    def begin(self, stream, first, again):
        self.writing = asyncio.ensure_future(self.write(stream, first, again))


class Interim(Endless):
    def request_received(self, stream):
        early = answers.headers(103, (b"link", b"x" * STATUS_103_BYTES))
        self.begin(stream, b"", early)


class EndlessHeader(Endless):
    def request_received(self, stream):
        self.begin(stream, encode_uint_var(answers.HEADERS) + encode_uint_var(2**40), CHUNK)


class UnknownFrames(Endless):
    """Frames of a reserved type, which must be ignored (RFC 9114 section 7.2.8), on the control stream."""

    def request_received(self, stream):
        self.begin(self.control, b"", answers.frame(UNKNOWN_FRAME, CHUNK))


class QpackBomb(answers.Peer):
    """Two bytes decode to eighty."""

    def request_received(self, stream):
        self.send(stream, answers.frame(answers.HEADERS, QPACK_PREFIX + QPACK_LONGEST * QPACK_LINES), end=True)


def of(protocol):
    return lambda configuration: QuicServer(configuration=configuration, create_protocol=protocol)


BEHAVIOURS = {
    "flood-wide": lambda _: Wide(),
    "flood-narrow": lambda _: Narrow(),
    "flood-retries": lambda _: Retries(),
    "crypto-beyond": lambda _: CryptoBeyond(),
    "crypto-again": lambda _: CryptoAgain(),
    "large-chain": large_chain,
    "connection-ids": of(ConnectionIds),
    "endless-interim": of(Interim),
    "endless-header": of(EndlessHeader),
    "unknown-frames": of(UnknownFrames),
    "qpack-bomb": of(QpackBomb),
}
