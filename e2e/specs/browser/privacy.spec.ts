// Privacy, by packet: a browsing run in a network namespace of its own, in which every packet that anybody sends is
// captured and accounted for. Nobody sends anything but to where the user went, and to what the user had raced.
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

/** To whom the browser and the helper may begin to speak in a step. */
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

/** What these steps' first race begins with, on loopback; see `native-host/race/warm-up.ts`. */
const WARM_UP: { readonly step: Step; readonly to: string } = { step: 'race', to: `${BROWSERS_ADDRESS}:9` };

/**
 * What a browser sends of its own accord, with the extension or without, although it was told not to: that the extension
 * asks nobody is in `requests.spec.ts`. Firefox, which finds every name on loopback here, is refused there.
 */
const MAKERS: Readonly<Record<BrowserKind, (flow: Flow) => boolean>> = {
  chromium: ({ asks }) => asks === 'update.googleapis.com' || asks === 'accounts.google.com',
  firefox: ({ to, transport }) => transport === 'tcp' && to === `${BROWSERS_ADDRESS}:443`,
};

/** Of the kernel: what it finds neighbours by, and what it answers where nobody listens. */
const KERNELS: ReadonlySet<string> = new Set(['arp', 'icmp', 'icmpv6']);

const WHOSE = { [BROWSERS_ADDRESS]: 'browser', [HELPERS_ADDRESS]: 'helper' } as const;

interface Told {
  readonly step: Step | 'before';
  readonly who: 'browser' | 'helper' | 'nobody';
  readonly host: Host | null;
  readonly flow: Flow;
}

/** Whose a flow is, to which host, and in which step it began. */
function toldOf(flow: Flow, { begins, ports }: BrowsingRecord): Told {
  const step = STEPS.findLast((each) => (begins[each] ?? 0) <= flow.beganAtMs) ?? 'before';
  const [address = '', port = ''] = flow.to.split(':');
  const who = WHOSE[address as keyof typeof WHOSE] ?? 'nobody';
  const host = Object.keys(ports).find((name) => String(ports[name]) === port) as Host | undefined;
  return { step, who, host: host ?? null, flow };
}

function isMeant({ step, who, host }: Told): boolean {
  return step !== 'before' && who !== 'nobody' && host !== null && MEANT[step][who].includes(host);
}

function isKnown({ step, flow }: Told, kind: BrowserKind, gateway: string): boolean {
  const warmsUp = step === WARM_UP.step && flow.to === WARM_UP.to;
  // The helper's empty datagram, by which the kernel finds the gateway's hardware address; docs/privacy.md tells of it.
  const names = flow.transport === 'udp' && flow.to === `${gateway}:9` && flow.packets === 1;
  return warmsUp || names || MAKERS[kind](flow) || KERNELS.has(flow.transport);
}

test('every packet goes where the user went or asked to race, and none in private windows or elsewhere', async ({
  kind,
  dir,
}) => {
  const why = await networkUnavailable('veth');
  test.skip(why !== null, why ?? '');
  test.setTimeout(180_000);
  // The way out, so that what is meant for elsewhere has somewhere to leave by.
  const network = await openNetwork();
  try {
    const { client, peers } = network;
    await client.ip('route', 'add', 'default', 'via', peers.server.ipv4);
    await client.ip('-6', 'route', 'add', 'default', 'via', peers.server.ipv6);
    const capture = await startCapture(client);
    const browsed = await browse(client, kind, dir);
    const told = (await capture.flows()).map((flow) => toldOf(flow, browsed));

    const strays = told.filter((each) => !isMeant(each) && !isKnown(each, kind, peers.server.ipv4));
    // WebDriver BiDi, by which Firefox is driven: a connection for each start.
    const driven = strays.filter(
      ({ step, who, flow }) =>
        (step === 'before' || step === 'start') && who === 'browser' && flow.transport === 'tcp',
    );
    expect(driven.length).toBe(kind === 'firefox' ? 2 : 0);
    expect(strays.filter((each) => !driven.includes(each))).toEqual([]);

    // Else it proves nothing: what is meant was done, and captured.
    for (const step of STEPS)
      for (const who of ['browser', 'helper'] as const) {
        const met = new Set(
          told.filter((each) => each.step === step && each.who === who).map(({ host }) => host),
        );
        met.delete(null);
        const kept = step === 'race' && who === 'browser';
        if (!kept) expect([step, who, [...met].toSorted()]).toEqual([step, who, MEANT[step][who].toSorted()]);
      }
    const raced = new Set(told.flatMap(({ who, flow }) => (who === 'helper' ? [flow.transport] : [])));
    for (const transport of ['tcp', 'udp']) expect(raced).toContain(transport);
  } finally {
    await network.close();
  }
});
