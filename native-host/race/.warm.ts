import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import tls from 'node:tls';
import { ORIGIN_KINDS, startOrigins } from '../../e2e/origins/start.ts';
import { loadQuicAddon } from '../quic/addon.ts';
import { readTrust } from '../trust.ts';
import { h2Contender } from './h2.ts';
import { h3Contender } from './h3.ts';

const o = await startOrigins({ origins: ORIGIN_KINDS });
const t = await readTrust([o.caPath]);
if (!t.ok) throw new Error(t.message);
const h3 = h3Contender(t.value),
  h2 = h2Contender(t.value);
let n = performance.now();
const L = (m: string) => {
  const x = performance.now();
  console.log(m, (x - n).toFixed(2));
  n = performance.now();
};
await h3.prepare();
L('prep h3');
await h2.prepare();
L('prep h2');
const kind = process.argv[2];
if (kind === 'udp' || kind === 'both') {
  const s = createSocket('udp4');
  s.bind(0, '127.0.0.1');
  await once(s, 'listening');
  const a = h3.start({
    address: '127.0.0.1',
    port: s.address().port,
    host: 'warm.test',
    authority: 'warm.test',
    initialRttMs: 67,
    handshakeTimeoutMs: 1000,
  });
  await once(s, 'message');
  a.cancel();
  await a.established;
  s.close();
  L('warm h3');
}
if (kind === 'tls' || kind === 'both') {
  const [c, s] = duplexPair();
  const x = tls.connect({ socket: c, servername: 'warm.test', ALPNProtocols: ['h2'] });
  x.on('error', () => {});
  await once(s, 'readable');
  x.destroy();
  L('warm h2');
}
const r = o.origins.both;
for (let i = 0; i < 3; i++)
  for (const [nm, c] of [
    ['h3', h3],
    ['h2', h2],
  ] as const) {
    const a = c.start({
      address: '127.0.0.1',
      port: r.port,
      host: r.host,
      authority: `${r.host}:${r.port}`,
      initialRttMs: 67,
      handshakeTimeoutMs: 1000,
    });
    const e: any = await a.established;
    L(`${nm} est ${e.establishedMs} t ${e.transportMs}`);
    const q: any = await a.request('GET', 1000);
    L(`${nm} req ${q.firstByteMs}`);
    a.cancel();
  }
await o.stop();
