"""Prints every packet that a socket of this network namespace sends, over any device, as one JSON object per line,
after the line {"ready": true} and until its standard input ends; then the number of packets that the kernel dropped."""

import json
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 0x0003
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE = 33
BUFFER_BYTES = 64 << 20
ETHERNETS = {0x0800: "ipv4", 0x86DD: "ipv6", 0x0806: "arp"}
TRANSPORTS = {1: "icmp", 2: "igmp", 6: "tcp", 17: "udp", 58: "icmpv6"}
# Extension headers that may precede the transport header (RFC 8200 section 4.1); their first octets are next header and
# length.
EXTENSIONS = {0, 43, 60}


def address(family, octets):
    return socket.inet_ntop(family, octets)


def question(message):
    """The first question's name (RFC 1035 section 4.1.2), which queries do not compress."""
    labels, at = [], 12
    while at < len(message) and message[at]:
        labels.append(message[at + 1 : at + 1 + message[at]].decode("ascii", "replace"))
        at += 1 + message[at]
    return ".".join(labels)


def parsed(kind, data):
    if kind == "ipv4":
        start, transport = (data[0] & 0x0F) * 4, data[9]
        ends = address(socket.AF_INET, data[12:16]), address(socket.AF_INET, data[16:20])
    elif kind == "ipv6":
        start, transport = 40, data[6]
        ends = address(socket.AF_INET6, data[8:24]), address(socket.AF_INET6, data[24:40])
        while transport in EXTENSIONS:
            transport, start = data[start], start + (data[start + 1] + 1) * 8
    else:
        return {"transport": kind}
    name = TRANSPORTS.get(transport, str(transport))
    packet = {"transport": name, "from": ends[0], "to": ends[1]}
    if name in ("tcp", "udp"):
        packet["fromPort"], packet["toPort"] = struct.unpack("!HH", data[start : start + 4])
        if name == "udp" and packet["toPort"] == 53:
            packet["asks"] = question(data[start + 8 :])
    return packet


def main():
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    sniffer.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
    print(json.dumps({"ready": True}), flush=True)
    ended = False
    while not ended:
        readable, _, _ = select.select([sniffer, sys.stdin], [], [])
        ended = sys.stdin in readable
        while sniffer in select.select([sniffer], [], [], 0)[0]:
            data, (device, protocol, direction, _, _) = sniffer.recvfrom(512)
            # Packets on loopback are seen twice, and incoming ones were not sent from here.
            if direction != PACKET_OUTGOING:
                continue
            kind = ETHERNETS.get(protocol, hex(protocol))
            packet = {"atMs": time.time() * 1000, "device": device, **parsed(kind, data)}
            print(json.dumps(packet))
    _, dropped = struct.unpack("II", sniffer.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
    print(json.dumps({"dropped": dropped}), flush=True)


main()
