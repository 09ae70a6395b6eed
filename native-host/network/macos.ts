// The network on macOS, from system commands whose output is not localised.
import type { Clock } from '../clock.ts';
import { type InterfaceKind, linkLayerAddress, type NetworkFacts } from './key.ts';
import {
  interfacesMark,
  PUBLIC_ADDRESSES,
  type RunCommand,
  runCommand,
  sendEmptyDatagram,
} from './system.ts';
import type { NetworkSource } from './watch.ts';

/** Another network may have given the same addresses, so the commands are repeated after this time. */
const GOOD_FOR_MS = 5000;
/** How long a gateway may take to answer for its link-layer address. */
const RESOLVING_MS = [20, 100, 400];

export interface MacosSystem {
  /** Changes whenever addresses of interfaces do. */
  mark(): string;
  sendEmptyDatagram(address: string): void;
  readonly run: RunCommand;
  readonly clock: Pick<Clock, 'after'>;
}

/** The real machine. */
export function macosSystem(clock: Pick<Clock, 'after'>): MacosSystem {
  return { mark: interfacesMark, sendEmptyDatagram, run: runCommand, clock };
}

/** The interface in the output of `route -n get ADDRESS`; null: no route. */
export function deviceOfRoute(output: string): string | null {
  return /^\s*interface: (\S+)$/m.exec(output)?.[1] ?? null;
}

/** A line of `netstat -rn`. Host routes to neighbours have the link-layer address in the gateway column. */
export interface MacosRoute {
  readonly destination: string;
  readonly gateway: string;
  readonly flags: string;
  readonly device: string;
}

/** The routes in the output of `netstat -rn`; its columns differ between releases, so the headings are used. */
export function routesOfNetstat(output: string): MacosRoute[] {
  const routes: MacosRoute[] = [];
  let columns: readonly string[] = [];
  for (const line of output.split('\n')) {
    const cells = line.trim().split(/\s+/);
    if (cells[0] === 'Destination') columns = cells;
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? '';
    const device = cell('Netif');
    if (device === '' || cells === columns) continue;
    routes.push({ destination: cell('Destination'), gateway: cell('Gateway'), flags: cell('Flags'), device });
  }
  return routes;
}

/** Interfaces that encapsulate packets: `utun` of VPNs, `ipsec` of IKEv2, `ppp` of L2TP. */
export function isMacosTunnel(device: string): boolean {
  return /^(utun|ipsec|ppp|gif|stf|tun|tap)\d+$/.test(device);
}

/** The kind and name in the output of `ipconfig getsummary DEVICE`; recent systems hide the name. */
export function wirelessOfSummary(output: string): { readonly wireless: boolean; readonly ssid: string } {
  const wireless = /^ {2}InterfaceType : WiFi$/m.test(output);
  const [, ssid = ''] = /^ {2}SSID : (.+)$/m.exec(output) ?? [];
  return { wireless, ssid: ssid === '<redacted>' ? '' : ssid };
}

/**
 * Whether `networksetup -listallhardwareports` lists the interface as wireless, for systems without that in the
 * summary.
 */
export function isWirelessPort(output: string, device: string): boolean {
  return output
    .split(/\n\s*\n/)
    .some(
      (port) =>
        /^Hardware Port: (Wi-Fi|AirPort)$/m.test(port) && port.split('\n').includes(`Device: ${device}`),
    );
}

interface Gateway {
  readonly address: string;
  readonly linkLayer: string | null;
}

/** The gateway of an interface's default route; null if it has none. */
export function gatewayOf(routes: readonly MacosRoute[], device: string): Gateway | null {
  const address = routes.find((r) => r.destination === 'default' && r.device === device)?.gateway;
  if (address === undefined || address.startsWith('link#')) return null;
  const linkLayer = routes
    .filter((route) => route.destination === address && route.device === device)
    .map((route) => linkLayerAddress(route.gateway))
    .find((found) => found !== null);
  return { address, linkLayer: linkLayer ?? null };
}

/** Tunnels of the system itself have default routes without any network, scoped to their interface (`I`). */
function hasDefault(routes: readonly MacosRoute[]): boolean {
  return routes.some(({ destination, flags }) => destination === 'default' && !flags.includes('I'));
}

/** The interface that packets would use without the tunnel. Routes scoped to one interface (`I`) do not count. */
function deviceBeneath(routes: readonly MacosRoute[]): string | null {
  const defaults = routes.filter((r) => r.destination === 'default' && !isMacosTunnel(r.device));
  return (defaults.find((r) => !r.flags.includes('I')) ?? defaults[0])?.device ?? null;
}

async function outwardDevice({ run }: MacosSystem): Promise<string | null> {
  for (const destination of [[PUBLIC_ADDRESSES[4]], ['-inet6', PUBLIC_ADDRESSES[6]]]) {
    const device = deviceOfRoute((await run('route', ['-n', 'get', ...destination])) ?? '');
    if (device !== null) return device;
  }
  return null;
}

async function readRoutes({ run }: MacosSystem): Promise<MacosRoute[]> {
  const output = await run('netstat', ['-rn']);
  // Without the table nothing is known; having no route would be shown in it.
  if (output === null) throw new Error('netstat does not answer');
  return routesOfNetstat(output);
}

async function resolvedGateway(
  system: MacosSystem,
  routes: readonly MacosRoute[],
  device: string,
): Promise<Gateway | null> {
  let gateway = gatewayOf(routes, device);
  if (gateway === null || gateway.linkLayer !== null) return gateway;
  system.sendEmptyDatagram(gateway.address);
  for (const delayMs of RESOLVING_MS) {
    await new Promise<void>((done) => system.clock.after(delayMs, done));
    gateway = gatewayOf(await readRoutes(system), device);
    if (gateway === null || gateway.linkLayer !== null) return gateway;
  }
  return gateway;
}

async function wirelessOf(
  { run }: MacosSystem,
  device: string,
): Promise<{ kind: InterfaceKind; ssid: string }> {
  const summary = (await run('ipconfig', ['getsummary', device])) ?? '';
  const { wireless, ssid } = wirelessOfSummary(summary);
  if (wireless || /^ {2}InterfaceType : /m.test(summary))
    return { kind: wireless ? 'wireless' : 'wired', ssid };
  const ports = (await run('networksetup', ['-listallhardwareports'])) ?? '';
  return { kind: isWirelessPort(ports, device) ? 'wireless' : 'wired', ssid: '' };
}

async function examine(system: MacosSystem): Promise<NetworkFacts | null> {
  const [outward, routes] = await Promise.all([outwardDevice(system), readRoutes(system)]);
  // A `route` that is late or cannot be started is no sign that there is no route.
  if (outward === null && hasDefault(routes)) throw new Error('route does not answer');
  if (outward === null) return null;
  const tunnel = isMacosTunnel(outward);
  const device = tunnel ? deviceBeneath(routes) : outward;
  if (device === null) return { gateway: '', linkLayer: null, kind: 'other', ssid: '', tunnel };
  const [found, { kind, ssid }] = await Promise.all([
    resolvedGateway(system, routes, device),
    wirelessOf(system, device),
  ]);
  return { gateway: found?.address ?? '', linkLayer: found?.linkLayer ?? null, kind, ssid, tunnel };
}

/** The network of a Mac. */
export function macosSource(system: MacosSystem): NetworkSource {
  return {
    snapshot() {
      // Interfaces change on the same network too, so a known key stays valid until the answer is there.
      return { mark: system.mark(), route: '', facts: 'ask', goodForMs: GOOD_FOR_MS };
    },
    examine: () => examine(system),
  };
}
