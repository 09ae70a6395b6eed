// `npm run lab -- browsers` in small: one delay of each kind, so long that no client waits for what is late. It asserts
// what every client does that follows RFC 8305, and that its packets and the server's log are seen.
import { rm } from 'node:fs/promises';
import { expect, test } from '@playwright/test';
import { SUBJECTS } from '../lab/browsers/subjects.ts';
import { SWEEPS } from '../lab/browsers/sweeps.ts';
import { browsers } from '../lab/browsers.ts';
import { folderOf, record } from '../lab/experiment.ts';
import { networkUnavailable } from '../network/open.ts';
import { GO_MISSING } from '../test-programs.ts';

const LATE_MS = 1000;
/** RFC 8305 section 8: the least Connection Attempt Delay is 10 ms; 100 ms is the least that it recommends. */
const MIN_ATTEMPT_DELAY_MS = 10;
/** RFC 8305 section 8: a client that gets no processor for that long may begin without the AAAA answer that waits. */
const RESOLUTION_DELAY_MS = 50;
/** Browsers start for each turn of each sweep. */
const WHOLE_RUN_TIMEOUT_MS = 10 * 60_000;
const MEASURED = ['quic-alt-svc', 'ipv6', 'late-aaaa'];

test('browsers and our modes are seen to give up what is a second late', async () => {
  const why = await networkUnavailable('tun');
  test.skip(why !== null, why ?? '');
  test.setTimeout(WHOLE_RUN_TIMEOUT_MS);
  const dir = folderOf('browsers-quick');
  await rm(dir, { recursive: true, force: true });
  const options = { full: false, trials: 1, delaysMs: [LATE_MS], seed: 1, fresh: true };
  const sweeps = SWEEPS.filter(({ name }) => MEASURED.includes(name));
  const { journal, complete } = await record(
    browsers({ ...options, sweeps, ways: [], subjects: SUBJECTS }),
    dir,
  ).catch((error: Error) => {
    test.skip(error.message === GO_MISSING, GO_MISSING);
    throw error;
  });
  expect(complete).toBe(true);
  expect(journal.meta.found.absent).toEqual([]);

  const trialsOf = (sweep: string) =>
    journal.turns.filter((line) => line.kind === 'turn').filter((turn) => turn.sweep === sweep);
  for (const sweep of MEASURED)
    expect(new Set(trialsOf(sweep).map(({ client }) => client))).toEqual(
      new Set(SUBJECTS.map(({ name }) => name)),
    );

  for (const { client, trials } of trialsOf('quic-alt-svc')) {
    expect(trials[0]?.request, client).toEqual({ protocol: 'h2', family: 4 });
    // What it has learnt of HTTP/3 makes it try.
    expect(new Set(trials[0]?.attempts.map(({ transport }) => transport)), client).toEqual(
      new Set(['udp', 'tcp']),
    );
  }
  let preferring = 0;
  for (const { client, trials } of trialsOf('ipv6')) {
    const { request, queries = [], attempts = [] } = trials[0] ?? {};
    expect(request, client).toEqual({ protocol: 'h2', family: 4 });
    const tcp = attempts.filter(({ transport }) => transport === 'tcp');
    const begun = (family: 4 | 6) => tcp.find((attempt) => attempt.family === family)?.atMs ?? Number.NaN;
    const resolvedMs = queries.find(({ kind }) => kind === 'A')?.answeredMs ?? Number.NaN;
    const first = attempts[0];
    if (first?.family === 4 && first.atMs - resolvedMs >= RESOLUTION_DELAY_MS) continue;
    preferring += 1;
    expect(begun(4) - begun(6), client).toBeGreaterThanOrEqual(MIN_ATTEMPT_DELAY_MS);
  }
  expect(preferring).toBeGreaterThan(SUBJECTS.length / 2);
  for (const { client, trials } of trialsOf('late-aaaa')) {
    const aaaa = trials[0]?.queries.find(({ kind }) => kind === 'AAAA');
    expect(aaaa, client).toBeDefined();
    const first = trials[0]?.attempts[0];
    expect(first, client).toBeDefined();
    // Nobody can know an IPv6 address before the answer.
    // A timer may be a few milliseconds early.
    if (first?.family === 6) expect(first.atMs, client).toBeGreaterThanOrEqual(LATE_MS - 5);
  }
});
