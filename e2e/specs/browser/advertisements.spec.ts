// The helper reads what browsers process: the same server is visited by the browser and raced by the command line, and
// the browser's behaviour is the reference.
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import { type RaceDocument, raceDocumentSchema } from '@photofinish/shared/race/outcome';
import * as v from 'valibot';
import { navigationProtocol, type Tab } from '../../browsers/browser.ts';
import { startHttp2, type TcpPeer } from '../../origins/raw.ts';
import type { BrowserKind } from '../../run/find-browser.mjs';
import { test as base, expect, runPhotofinish } from '../fixtures.ts';
import { identityOf } from '../steps.ts';

type Act = (stream: ServerHttp2Stream) => void;

interface VisitedServer {
  readonly origin: string;
  /** Races it in this mode and returns the record. */
  race(mode: string): Promise<RaceDocument['races'][number]>;
}

const test = base.extend<{ serve: (act: Act, overHttp1?: string) => Promise<VisitedServer> }>({
  /** An HTTP/2 server for the host, whose HTTP/3 is at another port. */
  serve: async ({ local }, use) => {
    const { host } = local.origins.both;
    const identity = await identityOf(local, host);
    const running: TcpPeer[] = [];
    await use(async (act, overHttp1) => {
      const peer = await startHttp2(identity, act, overHttp1 === undefined ? {} : { overHttp1 });
      running.push(peer);
      const origin = `https://${host}:${peer.port}`;
      const pins = [peer.port, local.origins.both.port].map((port) => `${host}:${port}:127.0.0.1`);
      const reach = ['--allow-private', '--ca', local.caPath, ...pins.flatMap((pin) => ['--resolve', pin])];
      return {
        origin,
        async race(mode) {
          const asked = ['race', origin, '--mode', mode, '--memory', 'none', '--json', ...reach];
          const { stdout } = await runPhotofinish(asked);
          const [race] = v.parse(raceDocumentSchema, JSON.parse(stdout)).races;
          if (race === undefined) throw new Error('no race');
          return race;
        },
      };
    });
    for (const { stop } of running) stop();
  },
});

/**
 * Enough for a busy browser to learn about an alternative service and connect to it while the old connection is still
 * in use.
 */
const VISITS = 25;

/** The protocols of successive visits, up to the first over HTTP/3. */
async function protocolsOf(tab: Tab, url: string): Promise<string[]> {
  const used: string[] = [];
  while (used.length < VISITS && used.at(-1) !== 'h3') {
    await tab.goto(url);
    used.push(await navigationProtocol(tab));
  }
  return used;
}

function page(stream: ServerHttp2Stream, fields: Readonly<Record<string, string>> = {}): void {
  stream.respond({ ':status': 200, 'content-type': 'text/html', ...fields });
  stream.end('<!doctype html><link rel="icon" href="data:,"><title>advertised</title>');
}

function session(stream: ServerHttp2Stream): ServerHttp2Session {
  if (stream.session === undefined) throw new Error('the session has gone');
  return stream.session as ServerHttp2Session;
}

const ADVERTISED: readonly {
  readonly how: string;
  readonly act: (alternative: string, origin: () => string) => Act;
  readonly source: 'frame' | 'answer';
  /** Whether each browser returns over HTTP/3. */
  readonly isProcessed: Readonly<Record<BrowserKind, boolean>>;
}[] = [
  {
    how: 'an ALTSVC frame on stream 0',
    act: (alternative, origin) => (stream) => {
      session(stream).altsvc(alternative, origin());
      page(stream);
    },
    source: 'frame',
    isProcessed: { chromium: true, firefox: true },
  },
  {
    how: 'an ALTSVC frame on the stream of the request',
    act: (alternative) => (stream) => {
      session(stream).altsvc(alternative, stream.id ?? 0);
      page(stream);
    },
    source: 'frame',
    isProcessed: { chromium: true, firefox: true },
  },
  {
    how: 'Alt-Svc in a 103 alone',
    act: (alternative) => (stream) => {
      stream.additionalHeaders({ ':status': 103, 'alt-svc': alternative });
      page(stream);
    },
    source: 'answer',
    isProcessed: { chromium: true, firefox: false },
  },
];

for (const { how, act, source, isProcessed } of ADVERTISED)
  test(`${how} is read`, async ({ local, open, kind, serve }) => {
    const alternative = `h3=":${local.origins.both.port}"; ma=60`;
    const served: VisitedServer = await serve(act(alternative, () => served.origin));
    const session = await open();
    const used = await protocolsOf(await session.newTab(), served.origin);
    expect([used[0], used.at(-1)]).toEqual(['h2', isProcessed[kind] ? 'h3' : 'h2']);
    const { discovered } = await served.race('h2');
    expect(discovered.altSvc).toBe(alternative);
    expect(discovered.alternatives?.map((each) => each.source)).toEqual([source]);
    expect((await served.race('alt-svc')).trials[0]?.adopted).toBe('h3');
  });

const LARGE = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`x-${i}`, 'x'.repeat(10_000)]));

test('a header section of 120 KB is read', async ({ open, serve }) => {
  const served = await serve((stream) => page(stream, LARGE));
  const tab = await (await open()).newTab();
  await tab.goto(served.origin);
  expect(await navigationProtocol(tab)).toBe('h2');
  const [trial] = (await served.race('h2')).trials;
  expect(trial?.adopted, trial?.attempts[0]?.error?.message).toBe('h2');
});

test('a request that the server wants over HTTP/1.1 is repeated over HTTP/1.1', async ({ open, serve }) => {
  const served = await serve(
    (stream) => stream.close(constants.NGHTTP2_HTTP_1_1_REQUIRED),
    '<!doctype html><title>older</title>',
  );
  const tab = await (await open()).newTab();
  await tab.goto(served.origin);
  expect(await navigationProtocol(tab)).toBe('http/1.1');
  const [trial] = (await served.race('h2')).trials;
  expect(trial?.adopted).toBe('http/1.1');
  expect(trial?.attempts.map((attempt) => attempt.http11Required)).toEqual([true]);
});
