// libcurl as a client under test: HTTP/3 with its own fall-back to HTTP/2, in the build that the Python package curl_cffi
// brings, imitating no browser.
import { fileURLToPath } from 'node:url';
import { insistOnPython, PYTHON, PYTHON_FLAGS } from '../../origins/python.ts';
import { orderedProgram, peer } from './peer.ts';

const SCRIPT = fileURLToPath(new URL('../../bench/peers/curl/trials.py', import.meta.url));

/**
 * `CURL_HTTP_VERSION_3`: QUIC first, TCP beside it once QUIC takes long; the first secure handshake wins. This build
 * offers X25519 alone, so its first flight is one packet.
 */
export const curl = peer('curl', 'libcurl, no ML-KEM', async (testbed) => {
  insistOnPython();
  return orderedProgram(testbed, [PYTHON, ...PYTHON_FLAGS, SCRIPT]);
});
