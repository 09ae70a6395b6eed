// Time from starting the helper to its first forecast, compared with a bare Node host that echoes the same messages,
// and with one that also opens a database. All are restarted every round; the goal keeps the helper's start-up close to
// Node's own.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { helperArguments, openHost } from '../helper/port.ts';
import { scratchIn, TOP } from '../scratch.ts';
import { measureInStep, publish } from './measure.ts';

await using closing = new AsyncDisposableStack();
const dir = await scratchIn(closing, 'cold-start');
const config = join(dir, 'config.json');
writeFileSync(config, JSON.stringify({ cache: join(dir, 'cache.db') }), { mode: 0o600 });

const HELLO = { type: 'hello', id: 1, protocol: 1, program: 'bench/1' };
const FORECAST = {
  type: 'forecast',
  id: 2,
  browser: 'chromium',
  site: 'a.test',
  origins: ['https://a.test'],
};

/** Milliseconds from the start of the process to the second reply. */
async function firstForecast(args: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  const port = openHost(process.execPath, args);
  port.send(HELLO);
  port.send(FORECAST);
  await port.next();
  const reply = await port.next();
  const elapsedMs = performance.now() - startedMs;
  if (reply.type !== 'forecast') throw new Error(`no forecast but ${JSON.stringify(reply)}`);
  await port.close();
  return elapsedMs;
}

const measurement = await measureInStep('Starting hosts', {
  title: 'process start to first forecast',
  unit: 'ms',
  sides: [
    { name: 'bare echo host', run: () => firstForecast([join(TOP, 'e2e/bench/echo-host.mjs')]) },
    {
      name: 'bare host with SQLite',
      run: () => firstForecast([join(TOP, 'e2e/bench/sqlite-host.cjs'), join(dir, 'bare.db')]),
    },
    { name: 'photofinish helper', run: () => firstForecast(helperArguments(config)), ratioAtMost: 1.15 },
  ],
  rounds: 100,
  warmUpRounds: 5,
});
publish('cold-start', { measurements: [measurement] });
