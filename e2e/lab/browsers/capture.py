"""Reports the packets of one or more ports on devices of this network namespace, one JSON object per line, with the
kernel's time of each: Linux has packet sockets, Node.js has none, and the laboratory must not need tcpdump.

`capture.py PORTS DEVICE...`; a line on standard input is repeated on standard output once everything earlier has been
reported, and the program ends with it.
"""

import json
import selectors
import socket
import struct
import sys

# <asm/socket.h>, <linux/if_ether.h>; Python does not name them.
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
ETH_P_ALL = 3
PROTOCOLS = {6: "tcp", 17: "udp"}
IPV4_HEADER_MIN, IPV6_HEADER, UDP_HEADER = 20, 40, 8
DNS_PORT = 53
RECEIVE_BYTES = 1 << 22


def transport_of(packet):
    """The family, the transport and its segment; None for other packets, and for fragments."""
    version = packet[0] >> 4 if packet else 0
    if version == 4 and len(packet) >= IPV4_HEADER_MIN:
        fragment = struct.unpack_from("!H", packet, 6)[0] & 0x1FFF
        found = PROTOCOLS.get(packet[9]) if fragment == 0 else None
        return found and (4, found, packet[4 * (packet[0] & 0xF) :])
    if version == 6 and len(packet) >= IPV6_HEADER:
        found = PROTOCOLS.get(packet[6])
        return found and (6, found, packet[IPV6_HEADER:])
    return None


def describe(packet, ports):
    """What is reported of a packet; None if it is of no such port."""
    found = transport_of(packet)
    if found is None or len(found[2]) < UDP_HEADER:
        return None
    family, transport, segment = found
    source, destination = struct.unpack_from("!HH", segment)
    if source not in ports and destination not in ports:
        return None
    told = {"family": family, "transport": transport, "source": source, "destination": destination}
    if transport == "tcp":
        return told | {"flags": segment[13]} if len(segment) > 13 else None
    payload = segment[UDP_HEADER:]
    if DNS_PORT in (source, destination):
        return told | {"payload": payload.hex()}
    return told | ({"first": payload[0]} if payload else {})


def opened(device):
    """A socket for packets without their link-layer header."""
    found = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    found.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
    found.bind((device, ETH_P_ALL))
    found.setblocking(False)
    return found


def drain(source, loopback, ports):
    """Reports what has arrived."""
    while True:
        try:
            packet, ancillary, _, address = source.recvmsg(65536, 64)
        except BlockingIOError:
            return
        # A packet on loopback passes twice.
        if loopback and address[2] == socket.PACKET_OUTGOING:
            continue
        told = describe(packet, ports)
        if told is None:
            continue
        seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
        print(json.dumps({"atMs": seconds * 1e3 + nanoseconds / 1e6, **told}))


def main():
    ports = {int(port) for port in sys.argv[1].split(",")}
    selector = selectors.DefaultSelector()
    sources = []
    for device in sys.argv[2:]:
        source = opened(device), device == "lo"
        sources.append(source)
        selector.register(source[0], selectors.EVENT_READ, source)
    selector.register(sys.stdin, selectors.EVENT_READ, None)
    print(json.dumps("ready"), flush=True)
    while True:
        asked = False
        for key, _ in selector.select():
            asked = asked or key.data is None
        line = sys.stdin.readline() if asked else None
        for source, loopback in sources:
            drain(source, loopback, ports)
        if line == "":
            return
        if line is not None:
            print(line.strip())
        sys.stdout.flush()


main()
