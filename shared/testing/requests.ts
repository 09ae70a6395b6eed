// One request of each kind, for tests that change them.

const observation = {
  id: 'a',
  origin: 'https://a.test',
  site: 'a.test',
  kind: 'resource',
  delivery: 'network',
  protocol: 'h3',
  altSvc: 'h3=":443"',
  atMs: 1,
  bytes: 20,
};

/** As the extension sends them. */
export const REQUESTS = [
  { type: 'hello', id: 1, protocol: 1, program: 'x/1' },
  {
    type: 'forecast',
    id: 2,
    browser: 'chromium',
    site: 'a.test',
    origins: ['https://a.test', 'https://b.test:8443'],
  },
  { type: 'race', id: 3, origin: 'https://a.test', mode: 'compare', reason: 'click', startDelayMs: 10 },
  { type: 'observed', id: 4, browser: 'firefox', observations: [observation, { ...observation, id: 'b' }] },
  { type: 'cancel', id: 5, target: 3 },
  { type: 'stats', id: 6 },
  { type: 'networks', id: 7 },
  { type: 'name-network', id: 8, network: 'net-1d44ea1a8671e8f3', name: 'Home' },
];
