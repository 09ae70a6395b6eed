"""libcurl as measured by the laboratory: cold connections to one origin, one after the other, each with its own handle,
sockets and TLS cache. Reads one JSON document from standard input and prints one; `versions` prints the versions of its
components."""

import io
import json
import sys

from curl_cffi import Curl, CurlError, CurlHttpVersion, CurlInfo, CurlOpt, __version__

PROTOCOLS = {
    CurlHttpVersion.V3: "h3",
    CurlHttpVersion.V2_0: "h2",
    CurlHttpVersion.V1_1: "http/1.1",
}


def versions():
    """Versions reported by libcurl, by name; BoringSSL has none."""
    said = Curl().version().decode().split()
    parts = dict((part + "/unversioned").split("/")[:2] for part in said)
    names = ("libcurl", "BoringSSL", "ngtcp2", "nghttp3", "nghttp2")
    return {"curl_cffi": __version__} | {name: parts[name] for name in names if name in parts}


def cold(order):
    """One trial. libcurl chooses the protocol: HTTP/3 raced against HTTP/2, without browser impersonation."""
    origin = order["origin"]
    host, port = origin["host"], origin["port"]
    curl = Curl(cacert=order["ca"])
    try:
        curl.setopt(CurlOpt.URL, f"https://{host}:{port}/".encode())
        curl.setopt(CurlOpt.RESOLVE, [f"{host}:{port}:{origin['address']}"])
        curl.setopt(CurlOpt.HTTP_VERSION, CurlHttpVersion.V3)
        curl.setopt(CurlOpt.TIMEOUT_MS, order["deadlineMs"])
        # A proxy from the environment would be another path.
        curl.setopt(CurlOpt.NOPROXY, b"*")
        curl.setopt(CurlOpt.WRITEDATA, io.BytesIO())
        try:
            curl.perform()
        except CurlError as error:
            return failed(str(error))
        protocol = PROTOCOLS.get(curl.getinfo(CurlInfo.HTTP_VERSION))
        if protocol is None:
            return failed("libcurl used another version of HTTP")
        return {
            "adopted": protocol,
            "establishedMs": milliseconds(curl, CurlInfo.APPCONNECT_TIME),
            "firstByteMs": milliseconds(curl, CurlInfo.STARTTRANSFER_TIME),
        }
    finally:
        # Closes its connections too.
        curl.close()


def milliseconds(curl, info):
    return curl.getinfo(info) * 1000


def failed(why):
    return {"adopted": None, "establishedMs": None, "firstByteMs": None, "error": why}


def main():
    if sys.argv[1:] == ["versions"]:
        print(json.dumps(versions()))
        return
    order = json.load(sys.stdin)
    print(json.dumps([cold(order) for _ in range(order["trials"])]))


main()
