"""Misbehaving HTTP/3 peers, each with one behaviour and on its own port. Run with one argument, JSON: {"address":
"127.0.0.1", "peers": {"NAME": {"behaviour": "...", "certPath": "...", "keyPath": "..."}}}. Prints {"NAME": PORT} once
all listen, and serves until its standard input ends."""

import asyncio
import errno
import json
import random
import socket
import sys

from aioquic.quic.configuration import QuicConfiguration

import answers
import handshakes
import hostile


def configuration_of(peer):
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(peer["certPath"], peer["keyPath"])
    return configuration


# Below the ephemeral ports of every common system: tests start a TCP server on the same number later, and by then a
# client's connection might have taken an ephemeral one.
PORTS = range(20_000, 32_000)


def is_free_for_tcp(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


async def bind(address, server):
    loop = asyncio.get_running_loop()
    for port in random.sample(PORTS, len(PORTS)):
        if not is_free_for_tcp(address, port):
            continue
        try:
            transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=(address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return transport.get_extra_info("sockname")[1]
    raise OSError(errno.EADDRINUSE, "every port is in use")


async def listen(address, peer):
    behaviour = peer["behaviour"]
    configuration = configuration_of(peer)
    if behaviour in handshakes.BEHAVIOURS:
        server = handshakes.BEHAVIOURS[behaviour](configuration)
    elif behaviour in hostile.BEHAVIOURS:
        server = hostile.BEHAVIOURS[behaviour](configuration)
    else:
        server = answers.server(configuration, answers.BEHAVIOURS[behaviour])
    return await bind(address, server)


async def main(settings):
    ports = {name: await listen(settings["address"], peer) for name, peer in settings["peers"].items()}
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
