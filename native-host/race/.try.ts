import { parseOrigin } from '@photofinish/shared/origin';
import { ORIGIN_KINDS, startOrigins } from '../../e2e/origins/start.ts';
import { readTrust } from '../trust.ts';
import { systemClock } from './clock.ts';
import { h2Contender } from './h2.ts';
import { h3Contender } from './h3.ts';
import { raceOrigin } from './run.ts';

const o = await startOrigins({ origins: ORIGIN_KINDS });
const t = await readTrust([o.caPath]);
if (!t.ok) throw new Error(t.message);
const contenders = { h3: h3Contender(t.value), h2: h2Contender(t.value) };
async function go(name: string, mode: any, extra: any = {}) {
  const parts = parseOrigin((o.origins as any)[name].origin);
  if (!parts.ok) throw 1;
  const t0 = performance.now();
  const r = await raceOrigin({
    origin: parts.value,
    addresses: ['127.0.0.1'],
    network: 'n',
    mode,
    memory: 'none',
    trials: 1,
    startDelayMs: 10,
    timeoutMs: 3000,
    contenders,
    clock: systemClock,
    ...extra,
  });
  console.log(
    name,
    mode,
    (performance.now() - t0).toFixed(1),
    JSON.stringify(r.summary),
    JSON.stringify(r.discovered),
    r.verdict.code,
    r.verdict.findings.map((f: any) => f.code),
  );
  for (const x of r.trials.slice(0, extra.show ?? 3))
    console.log(
      '   ',
      x.adopted,
      x.establishedMs,
      x.firstByteMs,
      x.lateH3,
      x.cacheHit,
      x.attempts.map(
        (a) =>
          `${a.protocol}:${a.port} ${a.startedMs} t${a.transportMs} e${a.establishedMs} f${a.firstByteMs} ${a.outcome} ${a.error?.code ?? ''} ${a.error?.message ?? ''}`,
      ),
    );
}
for (const n of Object.keys(ORIGIN_KINDS)) await go(n, 'race');
await go('both', 'alt-svc');
await go('both', 'alt-svc', { memory: 'full', trials: 3 });
await go('h2only', 'alt-svc');
await go('advertiseOnly', 'alt-svc');
await go('both', 'compare', { show: 6 });
await go('both', 'h2');
await go('both', 'h3');
await go('h2only', 'h3');
await go('h1only', 'h2');
await go('h2only', 'race', { memory: 'full', trials: 3 });
await go('both', 'race', { memory: 'full', trials: 3 });
await go('both', 'h3', { trials: 200, show: 0 });
await go('both', 'race', { trials: 200, show: 0 });
await go('both', 'h2', { trials: 200, show: 0 });
await go('both', 'race', { trials: 200, startDelayMs: 0, show: 0 });
await o.stop();
console.log('stopped', process.getActiveResourcesInfo());
