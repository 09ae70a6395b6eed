// A client and an origin on a network of our own: the origin speaks HTTP/3 and HTTP/2 at one address of each family,
// DNS names both, and the client races it with the built command line.
import { join } from 'node:path';
import { type RaceDocument, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { type RunningOrigin, startOrigins } from '../origins/start.ts';
import { TOP } from '../scratch.ts';
import { startDnsInside } from './dns.ts';
import type { Namespace, Ran } from './namespace.ts';
import { openNetwork, type Peer } from './open.ts';

const PHOTOFINISH = join(TOP, 'native-host/bin/photofinish');
const HOST = 'both.test';
/** The origin's port, the one that browsers and the helper assume. */
export const PORT = 443;

export interface Laboratory {
  readonly client: Namespace;
  readonly server: Peer;
  readonly origin: RunningOrigin;
  /** The throw-away CA, PEM. */
  readonly caPath: string;
  /** What lets the command line find the origin by DNS, and trust it. */
  readonly byName: readonly string[];
  /** As `byName`, but at this one address, without a look-up. */
  pinned(address: string): readonly string[];
  /** Runs it to its end; never rejects for an exit code. */
  photofinish(...args: string[]): Promise<Ran>;
  /** `photofinish race` on the client, its document checked. Rejects if it prints none. */
  race(...args: string[]): Promise<RaceDocument>;
  close(): Promise<void>;
}

/** Opens a laboratory; where that cannot be done it rejects, so ask `networkUnavailable` first. */
export async function openLaboratory(): Promise<Laboratory> {
  const network = await openNetwork();
  const { client } = network;
  const { server } = network.peers;
  try {
    const settings = { host: HOST, address: '::', port: PORT, h3: true, altSvc: 'auto' };
    const running = await startOrigins({ origins: { both: settings }, inside: server });
    const close = async () => {
      await running.stop();
      await network.close();
    };
    const HTTPS = [{ priority: 1, target: '.', alpn: ['h3', 'h2'] }];
    const names = { [HOST]: { A: [server.ipv4], AAAA: [server.ipv6], HTTPS } };
    const resolver = await startDnsInside(server, server.ipv4, names);

    const { origin } = running.origins.both;
    const reach = ['--allow-private', '--ca', running.caPath];
    const photofinish = (...args: string[]) => client.run(PHOTOFINISH, args);
    return {
      client,
      server,
      origin: running.origins.both,
      caPath: running.caPath,
      byName: [...reach, '--resolver', resolver],
      pinned: (address) => [...reach, '--resolve', `${HOST}:${PORT}:[${address}]`],
      photofinish,
      async race(...args) {
        const { stdout, stderr } = await photofinish('race', origin, '--json', ...args);
        if (stdout === '') throw new Error(stderr);
        return v.parse(raceDocumentSchema, JSON.parse(stdout));
      },
      close,
    };
  } catch (error) {
    await network.close();
    throw error;
  }
}
