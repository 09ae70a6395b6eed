// A bare quinn as clients under test: one QUIC handshake with nothing of ours in it, at quinn's defaults and with the
// initial round-trip time that makes its first probe as early as quic-go's.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rustProgram } from '../../rust-programs.ts';
import { TOP } from '../../scratch.ts';
import { DEADLINE_MS, parseTrials } from '../trial.ts';
import { insistInside, peer } from './peer.ts';

/** A third of quic-go's first probe time-out, which is 200 ms. */
const QUIC_GO_INITIAL_RTT_MS = 67;

/** As cargo has locked it. */
async function lockedVersion(crate: string): Promise<string> {
  const lock = await readFile(join(TOP, 'Cargo.lock'), 'utf8');
  const version = new RegExp(`^name = "${crate}"\\nversion = "(.+)"$`, 'm').exec(lock)?.[1];
  if (version === undefined) throw new Error(`Cargo.lock does not name ${crate}`);
  return version;
}

function bareQuinn(name: string, title: string, initialRtt: readonly string[]) {
  return peer(name, title, async ({ client, caddy: { host, port, address }, caPath }) => {
    const program = rustProgram('bare-quinn');
    const versions = { quinn: await lockedVersion('quinn'), rustls: await lockedVersion('rustls') };
    return {
      versions,
      async run(trials) {
        const order = [`${address}:${port}`, host, caPath, String(trials), String(DEADLINE_MS)];
        return parseTrials(await insistInside(client, program, [...order, ...initialRtt]));
      },
    };
  });
}

/** The handshake alone; quinn takes 333 ms for a round trip until it has measured one (RFC 9002 section 6.2.2). */
export const quinn = bareQuinn('quinn', 'quinn alone', []);

/** The same, with the first probe after 200 ms. */
export const quinn67 = bareQuinn('quinn-67', 'quinn alone, initial_rtt 67 ms', [
  String(QUIC_GO_INITIAL_RTT_MS),
]);
