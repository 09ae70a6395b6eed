// The helper's results for third-party servers, compared with the servers' logs: supported protocols, the verdict, and
// the number of requests over each protocol.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { raceDocumentSchema } from '@photofinish/shared/race/outcome';
import { explanationSchema } from '@photofinish/shared/verdict/explanation';
import * as v from 'valibot';
import { absentStacks, presentStacks } from '../origins/stacks.ts';
import { expect, reachLocal, runPhotofinish, test } from './fixtures.ts';

const HOST = 'both.test';
const PAIRS = 3;

const sorted = (protocols: readonly (string | null)[]) =>
  protocols.filter((protocol) => protocol !== null).sort();

for (const stack of presentStacks())
  test(`${stack.name}: protocols, verdict and requests match its own log`, async ({ authority, dir }) => {
    const own = join(dir, 'stack');
    await mkdir(own);
    const { caPath } = authority;
    const options = { host: HOST, certifiedBy: authority, dir: own };
    const { h3, port, served, stop, version } = await stack.start(options);
    test.info().annotations.push({ type: 'stack', description: `${stack.name} ${version}` });
    const origin = `https://${HOST}:${port}`;
    const run = (...args: string[]) =>
      runPhotofinish([...args, '--json', ...reachLocal(caPath, [{ origin, host: HOST, port }])]);
    try {
      const compare = ['--mode', 'compare', '--trials', String(PAIRS), '--memory', 'none'];
      const raced = await run('race', origin, ...compare);
      const [race] = v.parse(raceDocumentSchema, JSON.parse(raced.stdout)).races;
      const adopted = race?.trials.map((trial) => trial.adopted) ?? [];
      expect(adopted.filter((protocol) => protocol === 'h2')).toHaveLength(PAIRS);
      expect(adopted.filter((protocol) => protocol === 'h3')).toHaveLength(h3 ? PAIRS : 0);
      // A server may log a response after it was received.
      await expect.poll(async () => sorted(await served())).toEqual(sorted(adopted));
      // No browser uses HTTP/3 with the tests' root; whether a record advertises it was not asked.
      const verdict = h3 ? 'h3-private-root' : 'unknown';
      expect(race?.verdict.code).toBe(verdict);

      // Nothing listens at that resolver, so that no name leaves the machine.
      const memory = ['--cache', join(dir, 'cache.db'), '--resolver', '127.0.0.1:1'];
      const explained = await run('explain', origin, ...memory);
      const explanation = v.parse(explanationSchema, JSON.parse(explained.stdout));
      expect(explanation.race.verdict.code).toBe(verdict);
    } finally {
      await stop();
    }
  });

for (const { name, why, optional } of absentStacks())
  test(`${name} is absent`, () => {
    test.skip(!optional, why);
    test.info().annotations.push({ type: 'absent', description: why });
  });
