// Our clients that are measured on these paths, and a way to count the datagrams of peers that do not report them.
import type { Client, LabTrial, Opener } from '../client.ts';
import { type OursOptions, ours } from '../clients/ours.ts';
import type { ServedTestbed } from '../testbed.ts';

const raceOf = (options: Omit<OursOptions, 'mode'>): Opener => ours({ ...options, mode: 'race' });

export const h3Unknown = ours({ name: 'h3', title: 'ours, host unknown', mode: 'h3' });
export const h3Known = ours({
  name: 'h3-known',
  title: 'ours, host known',
  mode: 'h3',
  known: true,
});
/** Like quinn and quic-go: one connection, whatever happens to its handshake. */
export const h3KnownOne = ours({
  name: 'h3-known-one',
  title: 'ours, host known, without the fresh attempt',
  mode: 'h3',
  known: true,
  options: ['--no-fresh-quic'],
});
/** Their first flight is one packet instead of two. */
const CLASSIC = ['--no-post-quantum'];
export const h3UnknownClassic = ours({
  name: 'h3-classic',
  title: 'ours, host unknown, no ML-KEM',
  mode: 'h3',
  options: CLASSIC,
});
export const h3KnownClassic = ours({
  name: 'h3-known-classic',
  title: 'ours, host known, no ML-KEM',
  mode: 'h3',
  known: true,
  options: CLASSIC,
});
/** Learning is slow on slow paths too, so a few races must do. */
const FEW_LESSONS = 5;
export const h3MetBefore = ours({
  name: 'h3-known',
  title: `ours, host met ${FEW_LESSONS} times`,
  mode: 'h3',
  known: true,
  lessons: FEW_LESSONS,
});
export const raceMetBefore = raceOf({
  name: 'race-known',
  title: `ours, host met ${FEW_LESSONS} times`,
  known: true,
  lessons: FEW_LESSONS,
});
export const raceUnknown = raceOf({ name: 'race', title: 'ours, host unknown' });
export const raceKnown = raceOf({ name: 'race-known', title: 'ours, host known', known: true });
export const raceNotFresh = raceOf({
  name: 'race-not-fresh',
  title: 'ours, host unknown, --no-fresh-quic',
  options: ['--no-fresh-quic'],
});
export const raceKnownNotFresh = raceOf({
  name: 'race-known-not-fresh',
  title: 'ours, host known, --no-fresh-quic',
  known: true,
  options: ['--no-fresh-quic'],
});

/**
 * If HTTP/3 is broken, it would continue for the rest of the trial after HTTP/2 is adopted: this ends it, far later
 * than any HTTP/2 is established here.
 */
const BEATEN_ENDS = ['--timeout', '600'];
export const raceCutShort = raceOf({ name: 'race', title: 'ours, host unknown', options: BEATEN_ENDS });
export const raceKnownCutShort = raceOf({
  name: 'race-known',
  title: 'ours, host known',
  known: true,
  options: BEATEN_ENDS,
});
export const h2Alone = ours({ name: 'h2', title: 'ours, HTTP/2 alone', mode: 'h2' });

/** The same client, one process per trial, with its datagrams counted as they leave the namespace. */
export async function counted(client: Client, testbed: ServedTestbed): Promise<Client> {
  const counter = await testbed.client.countSent({ transport: 'udp' });
  return {
    ...client,
    async run(trials) {
      const made: LabTrial[] = [];
      while (made.length < trials) {
        const before = await counter.read();
        const [trial] = await client.run(1);
        if (trial === undefined) throw new Error(`${client.name} made no trial`);
        made.push({ ...trial, datagramsSent: (await counter.read()) - before });
      }
      return made;
    },
  };
}
