"""Misbehaving HTTP/3 peers, each with one behaviour and on its own port. Run with one argument, JSON: {"address":
"127.0.0.1", "peers": {"NAME": {"behaviour": "...", "certPath": "...", "keyPath": "..."}}}. Prints {"NAME": PORT} once
all listen, and serves until its standard input ends."""

import asyncio
import json
import sys

from aioquic.quic.configuration import QuicConfiguration

import answers
import handshakes
import hostile


def configuration_of(peer):
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"])
    configuration.load_cert_chain(peer["certPath"], peer["keyPath"])
    return configuration


async def listen(address, peer):
    behaviour = peer["behaviour"]
    configuration = configuration_of(peer)
    if behaviour in handshakes.BEHAVIOURS:
        server = handshakes.BEHAVIOURS[behaviour](configuration)
    elif behaviour in hostile.BEHAVIOURS:
        server = hostile.BEHAVIOURS[behaviour](configuration)
    else:
        server = answers.server(configuration, answers.BEHAVIOURS[behaviour])
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: server, local_addr=(address, 0))
    return transport.get_extra_info("sockname")[1]


async def main(settings):
    ports = {name: await listen(settings["address"], peer) for name, peer in settings["peers"].items()}
    print(json.dumps(ports), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
