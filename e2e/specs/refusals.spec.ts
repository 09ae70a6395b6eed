// Hosts that refuse over both protocols on one port, and the result of `explain`: a specific text for each refusal.
import { type Explanation, explanationSchema } from '@photofinish/shared/verdict/explanation';
import { verdictText } from '@photofinish/shared/verdict/verdict-text';
import * as v from 'valibot';
import { HTTP2_ACTS, startHttp2, startTls, type TcpPeer } from '../origins/raw.ts';
import { type OriginSettings, startOrigins } from '../origins/start.ts';
import { expect, reachLocal, runPhotofinish } from './fixtures.ts';
import { type Behaviour, type Ground, HOST, test } from './peers.ts';

async function explain(origin: string, ...args: readonly string[]): Promise<Explanation> {
  const { stdout } = await runPhotofinish([
    'explain',
    origin,
    '--json',
    '--resolver',
    '127.0.0.1:1',
    ...args,
  ]);
  return v.parse(explanationSchema, JSON.parse(stdout));
}

type StartTcpPeer = (ground: Ground, port: number) => Promise<TcpPeer>;
const http2 =
  (act: keyof typeof HTTP2_ACTS): StartTcpPeer =>
  ({ identity }, port) =>
    startHttp2(identity, HTTP2_ACTS[act], { port });

/** aioquic's behaviour over HTTP/3, and Node's on the same port over TCP. */
const REFUSALS: readonly (readonly [Behaviour, StartTcpPeer, says: RegExp, never: RegExp])[] = [
  [
    'misdirected',
    http2('misdirected'),
    /it does not serve peer\.test on this port\. .* came with an Alt-Svc header, which clients ignore/,
    /offering HTTP\/3|connects/,
  ],
  // Like nginx's `return 444`.
  [
    'reset',
    http2('reset'),
    /ends the exchange without a response \(.*INTERNAL_ERROR/,
    /offering HTTP\/3|connects/,
  ],
  [
    'certificate-required',
    ({ identity }, port) => startTls({ ...identity, requestCert: true }, port),
    /HTTP\/2 \(client certificate required\): the server demands a client certificate/,
    /TLS 1\.3|connects/,
  ],
];
for (const [name, beside, says, never] of REFUSALS)
  test(`${name} over HTTP/3 and HTTP/2 (aioquic, Node)`, async ({ ground, dir }) => {
    const port = ground.aioquic.ports[name];
    const tcp = await beside(ground, port);
    const reach = ['--allow-private', '--ca', ground.chains.caPath, '--resolve', `${HOST}:${port}:127.0.0.1`];
    const { verdict } = await explain(`https://${HOST}:${port}`, '--cache', `${dir}/cache.db`, ...reach);
    tcp.stop();
    expect(verdict.code).toBe('unknown');
    expect(verdictText(verdict)).toMatch(says);
    expect(verdictText(verdict)).not.toMatch(never);
  });

test('a draft of HTTP/3 is advertised but QUIC refused: first make the server listen on QUIC', async ({
  dir,
}) => {
  const settings: OriginSettings = { host: 'draft.test', h3: false, altSvc: 'h3-29=":443"' };
  const running = await startOrigins({ origins: { settings } });
  const { origin, port } = running.origins.settings;
  const reach = reachLocal(running.caPath, [running.origins.settings]);
  const { verdict } = await explain(origin, '--cache', `${dir}/cache.db`, ...reach);
  await running.stop();
  expect(verdict.code).toBe('h3-advertisement-wrong');
  expect(verdictText(verdict)).toContain(`Make QUIC version 1 listen on UDP ${port} first`);
});
