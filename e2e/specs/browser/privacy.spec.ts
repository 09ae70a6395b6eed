// Privacy, by packet: a browsing session in its own network namespace, in which every packet is captured and accounted
// for. Nothing is sent except to where the user went, and to what the user raced.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Namespace } from '../../network/namespace.ts';
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
import type { BrowserKind } from '../../run/find-browser.mjs';
import { PYTHON, PYTHON_FLAGS } from '../../test-programs.ts';
import { expect, test } from '../fixtures.ts';

const PROGRAM = fileURLToPath(new URL('../../privacy/capture.py', import.meta.url));

/** Packets between two ends, from the first on. */
interface Flow {
  /** The transport of the first packet: `tcp`, `udp`, `icmpv6`, `arp`. */
  readonly transport: string;
  readonly device: string;
  /** Source and destination of the first packet; `address:port` if there are ports. */
  readonly from: string;
  readonly to: string;
  readonly beganAtMs: number;
  /** The name in a DNS query. */
  readonly asks?: string;
  packets: number;
}

interface Packet {
  readonly atMs: number;
  readonly device: string;
  readonly transport: string;
  readonly from?: string;
  readonly to?: string;
  readonly fromPort?: number;
  readonly toPort?: number;
  readonly asks?: string;
}

type Line = Packet | { readonly ready: true } | { readonly dropped: number };

export interface Capture {
  /** Stops capturing. Rejects if a packet was missed, since the capture would prove nothing. */
  flows(): Promise<readonly Flow[]>;
}

const end = (address = '', port?: number): string => (port === undefined ? address : `${address}:${port}`);

/** Capturing is active once this resolves. */
async function startCapture(namespace: Namespace): Promise<Capture> {
  const child = namespace.spawn(PYTHON, [...PYTHON_FLAGS, PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const flows = new Map<string, Flow>();
  let dropped: number | null = null;
  const take = (packet: Packet): void => {
    const { transport, device, atMs } = packet;
    const [from, to] = [end(packet.from, packet.fromPort), end(packet.to, packet.toPort)];
    const known =
      flows.get(`${transport} ${device} ${from} ${to}`) ?? flows.get(`${transport} ${device} ${to} ${from}`);
    if (known !== undefined) known.packets += 1;
    else
      flows.set(`${transport} ${device} ${from} ${to}`, {
        transport,
        device,
        from,
        to,
        beganAtMs: atMs,
        ...(packet.asks !== undefined && { asks: packet.asks }),
        packets: 1,
      });
  };
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ready = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the capture ended with ${code}`)));
    lines.on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if ('ready' in line) resolve();
      else if ('dropped' in line) dropped = line.dropped;
      else take(line);
    });
  });
  await ready;
  const read = once(lines, 'close');
  return {
    async flows() {
      child.stdin?.end();
      await read;
      if (dropped !== 0) throw new Error(`packets that were not captured: ${dropped ?? 'nobody knows'}`);
      return [...flows.values()];
    },
  };
}

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
 * contacts nobody is tested in `attacks.spec.ts`. Firefox, which resolves every name to loopback here, is refused
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
