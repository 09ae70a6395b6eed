"""Errors of an HTTP/3 server after the handshake. A behaviour is called when the connection is established and when a
request has arrived, and writes to streams itself: aioquic's own HTTP/3 is too correct for that."""

import asyncio

import pylsqpack
from aioquic.asyncio import QuicConnectionProtocol
from aioquic.asyncio.server import QuicServer
from aioquic.buffer import encode_uint_var
from aioquic.quic.events import HandshakeCompleted, StreamDataReceived

# RFC 9114 sections 6.2, 7.2 and 8.1.
CONTROL_STREAM, QPACK_ENCODER_STREAM, QPACK_DECODER_STREAM = 0x0, 0x2, 0x3
DATA, HEADERS, SETTINGS, GOAWAY = 0x0, 0x1, 0x4, 0x7
H3_NO_ERROR, H3_INTERNAL_ERROR, H3_REQUEST_REJECTED = 0x100, 0x102, 0x10B
H3_VERSION_FALLBACK = 0x110
# HTTP/2's SETTINGS_ENABLE_PUSH, reserved in HTTP/3 (RFC 9114 section 7.2.4.1).
RESERVED_SETTING = 0x2
MAX_FIELD_SECTION_SIZE = 0x6

INTERVAL_S = 0.05
LATE_S = 30
# Nearly all of a large datagram; the rest leaves room for accompanying frames.
WIDE_DATAGRAM_BYTES, WIDE_BODY_BYTES = 1400, 1300
BODY_CHUNK = bytes(16 * 1024)


def frame(kind, payload):
    return encode_uint_var(kind) + encode_uint_var(len(payload)) + payload


def settings(*pairs):
    return frame(SETTINGS, b"".join(encode_uint_var(number) for pair in pairs for number in pair))


def headers(status, *fields):
    lines = [(b":status", str(status).encode()), *fields]
    encoder = pylsqpack.Encoder()
    encoder.apply_settings(max_table_capacity=0, blocked_streams=0)
    return frame(HEADERS, encoder.encode(0, lines)[1])


class Peer(QuicConnectionProtocol):
    """Sends legal SETTINGS and leaves requests unanswered. Subclasses override this."""

    control = None

    def quic_event_received(self, event):
        if isinstance(event, HandshakeCompleted):
            self.connected()
            self.transmit()
        elif isinstance(event, StreamDataReceived) and event.stream_id % 4 == 0 and event.end_stream:
            self.request_received(event.stream_id)
            self.transmit()

    def connected(self):
        self.control = self.open_stream(CONTROL_STREAM, settings((MAX_FIELD_SECTION_SIZE, 65536)))

    def request_received(self, stream):
        pass

    def open_stream(self, kind, data=b""):
        stream = self._quic.get_next_available_stream_id(is_unidirectional=True)
        self._quic.send_stream_data(stream, encode_uint_var(kind) + data)
        return stream

    def send(self, stream, data, end=False):
        self._quic.send_stream_data(stream, data, end)


class Answer(Peer):
    def request_received(self, stream):
        self.send(stream, headers(200) + frame(DATA, b"hello"), end=True)


class Silent(Peer):
    pass


class StreamTooMany(Peer):
    """Opens a stream that the client has not allowed (RFC 9000 section 4.6)."""

    def request_received(self, stream):
        self._quic._remote_max_streams_bidi = 1
        self._quic.send_stream_data(self._quic.get_next_available_stream_id(), b"x")


class Late(Answer):
    """Responds long after a race has ended."""

    def request_received(self, stream):
        asyncio.get_running_loop().call_later(LATE_S, self.answer, stream)

    def answer(self, stream):
        super().request_received(stream)
        self.transmit()


class SettingsLate(Peer):
    """Another frame comes first on the control stream."""

    def connected(self):
        self.open_stream(CONTROL_STREAM, frame(GOAWAY, encode_uint_var(0)))


class SettingsNever(Peer):
    """Opens every stream except the one that must come first."""

    def connected(self):
        self.open_stream(QPACK_ENCODER_STREAM)
        self.open_stream(QPACK_DECODER_STREAM)


class SettingsReserved(Peer):
    def connected(self):
        self.open_stream(CONTROL_STREAM, settings((RESERVED_SETTING, 1)))


class SettingsTwice(Peer):
    """The same identifier twice in one frame (RFC 9114 section 7.2.4)."""

    def connected(self):
        self.open_stream(CONTROL_STREAM, settings((MAX_FIELD_SECTION_SIZE, 1), (MAX_FIELD_SECTION_SIZE, 2)))


class DataFirst(Peer):
    """Sends a body before its header section (RFC 9114 section 4.1)."""

    def request_received(self, stream):
        self.send(stream, frame(DATA, b"hello"), end=True)


class GoAway(Peer):
    """Processes nothing, including the request under way."""

    def request_received(self, stream):
        self.send(self.control, frame(GOAWAY, encode_uint_var(0)))


class GoAwayAndClose(GoAway):
    def request_received(self, stream):
        super().request_received(stream)
        asyncio.get_running_loop().call_later(INTERVAL_S, self.close, H3_NO_ERROR)


class Reject(Peer):
    def request_received(self, stream):
        self._quic.reset_stream(stream, H3_REQUEST_REJECTED)


class Reset(Peer):
    def request_received(self, stream):
        self._quic.reset_stream(stream, H3_INTERNAL_ERROR)


class WantOlderHttp(Peer):
    def request_received(self, stream):
        self._quic.reset_stream(stream, H3_VERSION_FALLBACK)


class CloseWhenAsked(Peer):
    def request_received(self, stream):
        self._quic.close(error_code=H3_INTERNAL_ERROR, reason_phrase="out of order")


class Drip(Peer):
    """A header section, followed by an endless slow trickle of bytes."""

    def request_received(self, stream):
        self.send(stream, headers(200, (b"alt-svc", b'h3=":443"')))
        self.dripping = asyncio.ensure_future(self.drip(stream))

    async def drip(self, stream):
        while True:
            self.send(stream, frame(DATA, b"."))
            self.transmit()
            await asyncio.sleep(INTERVAL_S)


def lines(count, size):
    """Several, since the encoder accepts no field of 64 KiB."""
    return [(b"x-%d" % number, b"x" * size) for number in range(count)]


class LargeHeader(Peer):
    def request_received(self, stream):
        self.send(stream, headers(200, *lines(12, 10_000)), end=True)


class HugeHeader(Peer):
    def request_received(self, stream):
        self.send(stream, headers(200, *lines(30, 10_000)), end=True)


class EndlessBody(Peer):
    """One frame that declares an absurd length, and sends as much of it as flow control allows."""

    def request_received(self, stream):
        self.send(stream, headers(200) + encode_uint_var(DATA) + encode_uint_var(2**40))
        for _ in range(64):
            self.send(stream, BODY_CHUNK)


class WideAnswer(Peer):
    """Assumes a larger path MTU once the handshake is complete, and responds with exactly one datagram that needs it:
    parts of a longer response would be sent in the smaller datagrams that windows and lost ranges leave over."""

    def connected(self):
        super().connected()
        self._quic._max_datagram_size = WIDE_DATAGRAM_BYTES
        self._quic._loss._cc.congestion_window = 2**30

    def request_received(self, stream):
        self.send(stream, headers(200) + frame(DATA, bytes(WIDE_BODY_BYTES)), end=True)


class Misdirected(Peer):
    """The body, which does not matter, never ends."""

    def request_received(self, stream):
        self.send(stream, headers(421))


BEHAVIOURS = {
    "answer": Answer,
    "silent": Silent,
    "late": Late,
    "stream-too-many": StreamTooMany,
    "settings-late": SettingsLate,
    "settings-never": SettingsNever,
    "settings-reserved": SettingsReserved,
    "settings-twice": SettingsTwice,
    "data-first": DataFirst,
    "goaway": GoAway,
    "goaway-and-close": GoAwayAndClose,
    "reject": Reject,
    "reset": Reset,
    "want-older-http": WantOlderHttp,
    "close-when-asked": CloseWhenAsked,
    "drip": Drip,
    "large-header": LargeHeader,
    "huge-header": HugeHeader,
    "endless-body": EndlessBody,
    "wide-answer": WideAnswer,
    "misdirected": Misdirected,
}


def server(configuration, protocol):
    return QuicServer(configuration=configuration, create_protocol=protocol)
