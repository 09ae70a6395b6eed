// Privacy, by packet: a browsing session in its own network namespace, in which every packet is captured and accounted
// for. Nothing is sent except to where the user went, and to what the user raced.
import { networkUnavailable, openNetwork } from '../../network/open.ts';
import {
  BROWSERS_ADDRESS,
  type BrowsingRecord,
  browse,
  HELPERS_ADDRESS,
  type Host,
  STEPS,
  type Step,
} from '../../privacy/browsing.ts';
import { type Flow, startCapture } from '../../privacy/capture.ts';
import type { BrowserKind } from '../../run/find-browser.mjs';
import { expect, test } from '../fixtures.ts';

/** The destinations that browser and helper may start to contact in a step. */
const MEANT: Readonly<Record<Step, { readonly browser: readonly Host[]; readonly helper: readonly Host[] }>> =
  {
    start: { browser: [], helper: [] },
    visit: { browser: ['both', 'h2only'], helper: [] },
    private: { browser: ['silent'], helper: [] },
    race: { browser: ['both'], helper: ['both'] },
    choice: { browser: [], helper: [] },
    'first-visit': { browser: ['h2only'], helper: ['h2only'] },
    'private-first-visit': { browser: ['hidden'], helper: [] },
    export: { browser: [], helper: [] },
    forget: { browser: [], helper: [] },
  };

/** Traffic on loopback with which the first race of these steps begins; see `native-host/race/warm-up.ts`. */
const WARM_UP: { readonly step: Step; readonly to: string } = { step: 'race', to: `${BROWSERS_ADDRESS}:9` };

/**
 * What a browser sends on its own, with or without the extension, although configured not to: that the extension
 * contacts nobody is tested in `policy.spec.ts`. Firefox, which resolves every name to loopback here, is refused
 * there.
 */
const MAKERS: Readonly<Record<BrowserKind, (flow: Flow) => boolean>> = {
  chromium: ({ asks }) => asks === 'update.googleapis.com' || asks === 'accounts.google.com',
  firefox: ({ to, transport }) => transport === 'tcp' && to === `${BROWSERS_ADDRESS}:443`,
};

/** Kernel traffic: neighbour discovery, and errors for ports on which nothing listens. */
const KERNELS: ReadonlySet<string> = new Set(['arp', 'icmp', 'icmpv6']);

const WHOSE = { [BROWSERS_ADDRESS]: 'browser', [HELPERS_ADDRESS]: 'helper' } as const;

interface Disclosure {
  readonly step: Step | 'before';
  readonly who: 'browser' | 'helper' | 'nobody';
  readonly host: Host | null;
  readonly flow: Flow;
}

/** The sender of a flow, its host, and the step in which it began. */
function disclosureOf(flow: Flow, { begins, ports }: BrowsingRecord): Disclosure {
  const step = STEPS.findLast((each) => (begins[each] ?? 0) <= flow.beganAtMs) ?? 'before';
  const [address = '', port = ''] = flow.to.split(':');
  const who = WHOSE[address as keyof typeof WHOSE] ?? 'nobody';
  const host = Object.keys(ports).find((name) => String(ports[name]) === port) as Host | undefined;
  return { step, who, host: host ?? null, flow };
}

function isMeant({ step, who, host }: Disclosure): boolean {
  return step !== 'before' && who !== 'nobody' && host !== null && MEANT[step][who].includes(host);
}

function isKnown({ step, flow }: Disclosure, kind: BrowserKind, gateway: string): boolean {
  const warmsUp = step === WARM_UP.step && flow.to === WARM_UP.to;
  // The helper's empty datagram, which makes the kernel resolve the gateway's hardware address; see docs/privacy.md.
  const names = flow.transport === 'udp' && flow.to === `${gateway}:9` && flow.packets === 1;
  return warmsUp || names || MAKERS[kind](flow) || KERNELS.has(flow.transport);
}

test('every packet goes where the user went or asked to race; private windows and other hosts see none', async ({
  kind,
  dir,
}) => {
  const why = await networkUnavailable('veth');
  test.skip(why !== null, why ?? '');
  test.setTimeout(180_000);
  // A route out, so that packets for other hosts have somewhere to go.
  const network = await openNetwork();
  try {
    const { client, peers } = network;
    await client.ip('route', 'add', 'default', 'via', peers.server.ipv4);
    await client.ip('-6', 'route', 'add', 'default', 'via', peers.server.ipv6);
    const capture = await startCapture(client);
    const browsed = await browse(client, kind, dir);
    const disclosures = (await capture.flows()).map((flow) => disclosureOf(flow, browsed));

    const strays = disclosures.filter((each) => !isMeant(each) && !isKnown(each, kind, peers.server.ipv4));
    // WebDriver BiDi, by which Firefox is driven: one connection per start.
    const driven = strays.filter(
      ({ step, who, flow }) =>
        (step === 'before' || step === 'start') && who === 'browser' && flow.transport === 'tcp',
    );
    expect(driven.length).toBe(kind === 'firefox' ? 2 : 0);
    expect(strays.filter((each) => !driven.includes(each))).toEqual([]);

    // Otherwise the test proves nothing: the expected traffic took place and was captured.
    for (const step of STEPS)
      for (const who of ['browser', 'helper'] as const) {
        const met = new Set(
          disclosures.filter((each) => each.step === step && each.who === who).map(({ host }) => host),
        );
        met.delete(null);
        const kept = step === 'race' && who === 'browser';
        if (!kept) expect([step, who, [...met].toSorted()]).toEqual([step, who, MEANT[step][who].toSorted()]);
      }
    const raced = new Set(disclosures.flatMap(({ who, flow }) => (who === 'helper' ? [flow.transport] : [])));
    for (const transport of ['tcp', 'udp']) expect(raced).toContain(transport);
  } finally {
    await network.close();
  }
});
