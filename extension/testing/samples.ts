// What observers, content scripts, developer tools and the helper report, and what of it a page's view shows, as tests
// of several modules need it: each test overrides what it is about.

import type { OriginRace } from '@photofinish/shared/race/outcome';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { attempt, originRace, trial, verdictSaying } from '@photofinish/shared/testing/race-samples';
import type { Observation } from '@photofinish/shared/web/observation';
import type { Origin } from '@photofinish/shared/web/origin';
import type { EndedRequest } from '../background/observe/requests.ts';
import type { PagePort } from '../common/browser.ts';
import type { InspectedRequest } from '../common/inspected-request.ts';
import type { OriginView } from '../common/messages.ts';
import type { Timing, TimingBatch } from '../common/timing.ts';
import type { NewestRaces } from '../common/verdict.ts';

/** A script that came over the network and shows its timings. */
export const TIMING: Timing = {
  navigation: false,
  url: 'https://a.test/x',
  alpn: 'h3',
  deliveryType: '',
  startMs: 1000,
  endMs: 1010,
  firstByteMs: 1005,
  transferBytes: 400,
  bodyBytes: 100,
  worker: false,
  redirected: false,
  initiator: 'script',
  status: 200,
  partial: false,
  opaque: false,
};

/** The first batch of an outermost page. */
export const BATCH: TimingBatch = {
  type: 'timings',
  source: '00000000-0000-4000-8000-000000000000',
  seq: 1,
  topOrigin: null,
  startedMs: 1000,
  controlled: false,
  entries: [TIMING],
};

/** A script's request as webRequest reports it: answered over the network, its protocol unknown. */
export const ENDED_REQUEST: EndedRequest = {
  id: '1',
  tabId: 1,
  documentId: 'doc',
  kind: 'resource',
  hop: false,
  firstUrl: 'https://a.test/x',
  url: 'https://a.test/x',
  atMs: 1010,
  answered: true,
  timingAllowed: true,
  withheld: false,
  protocol: null,
  revalidated: false,
  fromCache: false,
  address: '127.0.0.1',
  altSvc: 'h3=":443"',
  prerender: false,
  initiator: null,
  incognito: null,
};

/** A resource that came over HTTP/3. */
export function observation(over: Partial<Observation> = {}): Observation {
  return {
    id: '1',
    origin: 'https://a.test' as Origin,
    site: 'a.test',
    kind: 'resource',
    delivery: 'network',
    atMs: 1,
    bytes: null,
    protocol: 'h3',
    ...over,
  };
}

/** A request over HTTP/3, as the developer tools report it. */
export const INSPECTED_REQUEST: InspectedRequest = {
  url: 'https://a.test/x',
  method: 'GET',
  status: 200,
  protocol: 'h3',
  delivery: 'network',
  startMs: 1,
  tookMs: 10,
  bytes: 100,
};

/** An origin that answered one request over HTTP/2, with neither a forecast nor a race. */
export function originView(host: string, over: Partial<OriginView> = {}): OriginView {
  return {
    origin: `https://${host}` as Origin,
    site: host,
    protocol: 'h2',
    reason: null,
    hiddenReason: null,
    counts: { ...NO_REQUESTS, h2: 1 },
    delivered: { 'http-cache': 0, 'service-worker': 0, prefetch: 0 },
    forecast: null,
    forecastRight: null,
    race: null,
    verdict: verdictSaying('unknown', ''),
    ...over,
  };
}

const PAIR = [
  trial([attempt({ protocol: 'h3', outcome: 'adopted', establishedMs: 10, firstByteMs: 12 })]),
  trial([attempt({ protocol: 'h2', outcome: 'adopted', establishedMs: 31, firstByteMs: 35 })], 'h2'),
];

/** A comparison's outcome: one pair, HTTP/3 the faster. */
export function aRace(more: Partial<OriginRace> = {}): OriginRace {
  const race = originRace(PAIR, {
    origin: 'https://a.test' as Origin,
    network: 'home',
    mode: 'compare',
    discovered: { altSvc: 'h3=":443"; ma=86400', knownRoot: true },
  });
  return { ...race, summary: { ...race.summary, gainMs: 21 }, ...more };
}

/** The same with enough pairs for a clear result. */
export function aClearRace(more: Partial<OriginRace> = {}): OriginRace {
  return aRace({ trials: Array.from({ length: 8 }, () => PAIR).flat(), ...more });
}

/** The newest races of an origin that was raced once. */
export function racedOnce(race: OriginRace): NewestRaces {
  return { newest: race, judged: race };
}

/** A port from a page, with the page's end controlled by the test. */
export function pagePort() {
  let send: (message: unknown) => void = () => {};
  let close: () => void = () => {};
  const port: PagePort = {
    onMessage: {
      addListener(listen) {
        send = listen;
      },
    },
    onDisconnect: {
      addListener(listen) {
        close = listen;
      },
    },
  };
  return { port, send: (message: unknown) => send(message), close: () => close() };
}
