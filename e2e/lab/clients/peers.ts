// Other programs as clients under test. Each runs inside the client's namespace and prints one JSON document: quic-go
// and net/http, libcurl, undici, quinn, and the laboratory's own SCTP.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@photofinish/shared/web/untrusted';
import * as v from 'valibot';
import { scratchIn, TOP } from '../../scratch.ts';
import { goProgram, PYTHON, PYTHON_FLAGS, requirePython, rustProgram } from '../../test-programs.ts';
import { type Client, DEADLINE_MS, type LabTrial, type Opener, parseTrials } from '../client.ts';
import {
  ENCAPSULATION_PORT,
  PLAIN_PORT,
  PROGRAM as SCTP_PROGRAM,
  startTransports,
  TLS_PORT,
} from '../p1/transports.ts';
import type { ServedTestbed } from '../testbed.ts';

/** A peer's program, ready to run on the testbed; its versions are from the program itself or its lock file. */
type PeerProgram = Pick<Client, 'versions' | 'run'> & Partial<Pick<Client, 'close'>>;

/** A peer is absent if `open` rejects, for whatever reason. */
function peer(name: string, title: string, open: (testbed: ServedTestbed) => Promise<PeerProgram>): Opener {
  return async (testbed) => {
    try {
      return { name, title, kind: 'peer', close: async () => {}, ...(await open(testbed)) };
    } catch (error) {
      return { name, title, kind: 'peer', why: messageOf(error) };
    }
  };
}

/**
 * A program that reads its order from standard input: the origin, the CA file, the number of trials, their deadline and
 * further settings. With the argument `versions` it prints its versions instead.
 */
async function orderedProgram(
  { client, caddy: { host, port, address }, caPath }: ServedTestbed,
  [file, ...words]: readonly [string, ...string[]],
  more: object = {},
): Promise<PeerProgram> {
  const printed = JSON.parse(await client.runOrThrow(file, [...words, 'versions']));
  const versions = v.parse(v.record(v.string(), v.string()), printed);
  const run = async (trials: number): Promise<LabTrial[]> => {
    const order = { origin: { host, port, address }, ca: caPath, trials, deadlineMs: DEADLINE_MS, ...more };
    const input = JSON.stringify(order);
    return parseTrials(await client.runOrThrow(file, [...words, 'trials'], { input }));
  };
  return { versions, run };
}

const UNDICI_SCRIPT = fileURLToPath(new URL('../../bench/peers/undici/trials.ts', import.meta.url));

/** Node's HTTP/2 client without any of our code. */
export const undici = peer('undici', 'undici alone (HTTP/2)', (testbed) =>
  orderedProgram(testbed, [process.execPath, UNDICI_SCRIPT]),
);

const CURL_SCRIPT = fileURLToPath(new URL('../../bench/peers/curl/trials.py', import.meta.url));

/**
 * libcurl in the build of the Python package curl_cffi, without browser impersonation. `CURL_HTTP_VERSION_3`: QUIC
 * first, then TCP in parallel once QUIC takes long; the first secure handshake wins. This build offers only X25519, so
 * its first flight is one packet.
 */
export const curl = peer('curl', 'libcurl, no ML-KEM', async (testbed) => {
  requirePython();
  return orderedProgram(testbed, [PYTHON, ...PYTHON_FLAGS, CURL_SCRIPT]);
});

const inMode = (mode: 'race' | 'alt-svc' | 'h3') => async (testbed: ServedTestbed) =>
  orderedProgram(testbed, [goProgram('go-peer')], { mode });

/** Races like the paper's code: 10 ms, the first response wins, nothing is remembered. */
export const goRace = peer('go-race', "the paper's code (quic-go and net/http)", inMode('race'));

/** The paper's baseline: TCP only, since HTTP/3 is not advertised yet. */
export const goAltSvc = peer('go-alt-svc', "the paper's code, Alt-Svc (net/http)", inMode('alt-svc'));

/** Only quic-go, with its defaults. */
export const goH3 = peer('go-h3', 'quic-go alone', inMode('h3'));

/** RFC 6951's, and another one for a second server beside it. */
const SCTP_PORTS = { plain: ENCAPSULATION_PORT, tls: ENCAPSULATION_PORT + 1 } as const;

/**
 * SCTP over UDP in user space, to a server of its own; with TLS 1.3 (RFC 3436), established is the end of its
 * handshake. HTTP/1.0, one request.
 */
function sctpUdp(name: string, title: string, security: keyof typeof SCTP_PORTS) {
  return peer(name, title, async ({ client, server }) => {
    await using opening = new AsyncDisposableStack();
    const dir = await scratchIn(opening, 'sctp');
    const encapsulationPort = SCTP_PORTS[security];
    const address = server.ipv4;
    const running = await startTransports(server, dir, ['sctp-udp'], [address], encapsulationPort);
    const { certificatePath, unavailable } = running;
    opening.defer(running.stop);
    const [missing] = unavailable;
    if (missing !== undefined) throw new Error(missing.reason);
    const versions = { dcsctp: await lockedVersion('dcsctp'), rustls: await lockedVersion('rustls') };
    const closing = opening.move();
    return {
      versions,
      close: () => closing.disposeAsync(),
      async run(trials) {
        const order = {
          candidate: { transport: 'sctp-udp', address },
          port: security === 'tls' ? TLS_PORT : PLAIN_PORT,
          encapsulationPort,
          tls: security === 'tls' ? { version: '1.3', certificatePath } : null,
          objectBytes: 1024,
          trials,
          deadlineMs: DEADLINE_MS,
        };
        return parseTrials(await client.runOrThrow(SCTP_PROGRAM, ['trials', JSON.stringify(order)]));
      },
    };
  });
}

/** The bare transport, whose handshake takes two round trips. */
export const sctpPlain = sctpUdp('sctp-udp', 'SCTP over UDP, plain', 'plain');
export const sctpTls = sctpUdp('sctp-udp-tls', 'SCTP over UDP, TLS 1.3', 'tls');

/** From cargo's lock file. */
async function lockedVersion(crate: string): Promise<string> {
  const lock = await readFile(join(TOP, 'Cargo.lock'), 'utf8');
  const version = new RegExp(`^name = "${crate}"\\nversion = "(.+)"$`, 'm').exec(lock)?.[1];
  if (version === undefined) throw new Error(`Cargo.lock does not name ${crate}`);
  return version;
}

/**
 * One QUIC handshake without any of our code; quinn assumes a round trip of 333 ms until it has measured one (RFC 9002
 * section 6.2.2).
 */
export const quinn = peer('quinn', 'quinn alone', async ({ client, caddy, caPath }) => {
  const program = rustProgram('bare-quinn');
  const versions = { quinn: await lockedVersion('quinn'), rustls: await lockedVersion('rustls') };
  return {
    versions,
    async run(trials) {
      const { host, port, address } = caddy;
      const order = [`${address}:${port}`, host, caPath, String(trials), String(DEADLINE_MS)];
      return parseTrials(await client.runOrThrow(program, order));
    },
  };
});
