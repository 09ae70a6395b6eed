// The network on Linux. A few small files suffice for most machines; the kernel is queried for routes that policy rules
// may change, and system commands only for what no file contains (a wireless network's name, IPv6 neighbours). Reading
// what they say needs no privileges, and never throws, whatever it contains.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import type { Clock } from '../clock.ts';
import { type InterfaceKind, linkLayerAddress, type NetworkFacts } from './key.ts';
import { PUBLIC_ADDRESSES, type RunCommand, runCommand, sendEmptyDatagram, sourceAddress } from './system.ts';
import type { NetworkSnapshot, NetworkSource } from './watch.ts';

interface Route {
  readonly device: string;
  /** Dotted or colon-hexadecimal; null: the route has no gateway, like those of tunnels. */
  readonly gateway: string | null;
  readonly metric: number;
  readonly family: 4 | 6;
}

/** Flags of include/uapi/linux/route.h. */
const RTF_UP = 0x1;
const RTF_GATEWAY = 0x2;
/** The IPv6 table of every machine without IPv6 contains reject routes. */
const RTF_REJECT = 0x200;

function fields(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((parts) => parts.length > 1);
}

function isUsable(flags: number): boolean {
  return (flags & (RTF_UP | RTF_REJECT)) === RTF_UP;
}

function byMetric(a: Route, b: Route): number {
  return a.metric - b.metric;
}

/** The default routes of `/proc/net/route`, best first. A VPN's two halves (0/1 and 128/1) count as one. */
export function defaultRoutes(procNetRoute: string): Route[] {
  const halves: Route[] = [];
  const wholes: Route[] = [];
  for (const [device, destination, gateway, flags, , , metric, mask] of fields(procNetRoute).slice(1)) {
    if (device === undefined || gateway === undefined || mask === undefined) continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    // Both columns are hexadecimal in the host's byte order, which is little-endian wherever browsers run.
    const whole = destination === '00000000' && mask === '00000000';
    const half = mask === '00000080' && (destination === '00000000' || destination === '00000080');
    if (!isUsable(bits) || !(whole || half)) continue;
    const address = [6, 4, 2, 0].map((at) => Number.parseInt(gateway.slice(at, at + 2), 16)).join('.');
    const via = (bits & RTF_GATEWAY) === 0 ? null : address;
    (half ? halves : wholes).push({ device, gateway: via, metric: Number(metric), family: 4 });
  }
  return [...halves.toSorted(byMetric), ...wholes.toSorted(byMetric)];
}

/** The same for `/proc/net/ipv6_route`, which contains the routes of every table. */
export function defaultRoutes6(procNetIpv6Route: string): Route[] {
  const routes: Route[] = [];
  for (const parts of fields(procNetIpv6Route)) {
    const [destination, prefix, , , nextHop, metric, , , flags, device] = parts;
    if (device === undefined || nextHop === undefined || device === 'lo') continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    if (destination !== '0'.repeat(32) || prefix !== '00' || !isUsable(bits)) continue;
    const gateway = (bits & RTF_GATEWAY) === 0 ? null : (nextHop.match(/.{4}/g) ?? []).join(':');
    routes.push({ device, gateway, metric: Number.parseInt(metric ?? '0', 16), family: 6 });
  }
  return routes.toSorted(byMetric);
}

/** The gateway in the output of `ip -o route get ADDRESS`; null: the route has none. */
export function gatewayOfRouteGet(ipRoute: string): string | null {
  return / via (?:inet6 )?(\S+)/.exec(ipRoute)?.[1] ?? null;
}

/** The link-layer address of a gateway in `/proc/net/arp`; null if not resolved. */
export function neighbour4(procNetArp: string, route: Pick<Route, 'device' | 'gateway'>): string | null {
  for (const [ip, , flags, mac, , device] of fields(procNetArp).slice(1)) {
    if (ip !== route.gateway || device !== route.device || Number.parseInt(flags ?? '0', 16) === 0) continue;
    return linkLayerAddress(mac ?? '');
  }
  return null;
}

/** The link-layer address in the output of `ip -6 neigh show ADDRESS dev DEVICE`; null if not resolved. */
export function neighbour6(ipNeighbours: string): string | null {
  const [, address = ''] = /\blladdr (\S+)/.exec(ipNeighbours) ?? [];
  return linkLayerAddress(address);
}

/** Values of include/uapi/linux/if_arp.h used by tunnels: PPP, IP-in-IP, SIT, GRE, and none (WireGuard). */
const TUNNEL_TYPES = new Set(['512', '768', '769', '776', '778', '823', '65534']);

/** Whether `/sys/class/net/DEVICE/type` contains the type of a tunnel. */
export function isTunnelType(type: string): boolean {
  return TUNNEL_TYPES.has(type.trim());
}

/** `iw` escapes special bytes as `\xNN`. */
function unescaped(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; ) {
    const [whole, digits] = /^\\x([0-9a-f]{2})/i.exec(text.slice(at, at + 4)) ?? [];
    if (whole !== undefined && digits !== undefined) bytes.push(Number.parseInt(digits, 16));
    else bytes.push(...Buffer.from(text[at] ?? ''));
    at += whole?.length ?? 1;
  }
  return Buffer.from(bytes).toString();
}

/** From `iw dev DEVICE link`; empty if not connected. */
export function ssidOfIw(output: string): string {
  const [, ssid = ''] = /^\s*SSID: (.+)$/m.exec(output) ?? [];
  return unescaped(ssid);
}

/** From `nmcli --terse --fields IN-USE,SSID device wifi list`, in which `\` escapes `:` and itself. */
export function ssidOfNmcli(output: string): string {
  const [, ssid = ''] = /^\*:(.*)$/m.exec(output) ?? [];
  return ssid.replaceAll(/\\(.)/g, '$1');
}

/** From `iwgetid --raw DEVICE`. */
export function ssidOfIwgetid(output: string): string {
  return output.replace(/\n$/, '');
}

/** The network of a wireless interface; empty if no tool reports it. */
export async function readSsid(run: RunCommand, device: string): Promise<string> {
  const link = await run('iw', ['dev', device, 'link']);
  if (link !== null) return ssidOfIw(link);
  const fields = ['--terse', '--fields', 'IN-USE,SSID'];
  const list = await run('nmcli', [...fields, 'device', 'wifi', 'list', 'ifname', device, '--rescan', 'no']);
  if (list !== null) return ssidOfNmcli(list);
  return ssidOfIwgetid((await run('iwgetid', ['--raw', device])) ?? '');
}

/**
 * How long a neighbour may take to answer: the kernel sends three requests, one per second
 * (net.ipv4.neigh.*.retrans_time_ms).
 */
const RESOLVING_MS = [10, 20, 50, 100, 200, 400, 400];
/** No file shows new IPv6 neighbours or the effect of rules, so they are queried again after this time. */
const UNSEEN_GOOD_FOR_MS = 5000;

/** Queries to the machine; replaced in tests. */
export interface LinuxMachine {
  /** A file's text, empty if it does not exist. */
  read(path: string): string;
  exists(path: string): boolean;
  /** Names in a directory, empty if it does not exist. */
  list(path: string): readonly string[];
  sourceAddress(family: 4 | 6): string | null;
  addresses(): Record<string, readonly Pick<NetworkInterfaceInfo, 'address'>[] | undefined>;
  sendEmptyDatagram(address: string): void;
  readonly run: RunCommand;
  readonly clock: Pick<Clock, 'after'>;
}

/** The real machine. */
export function linuxMachine(clock: Pick<Clock, 'after'>): LinuxMachine {
  return {
    read(path) {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        return '';
      }
    },
    exists: existsSync,
    list(path) {
      try {
        return readdirSync(path);
      } catch {
        return [];
      }
    },
    sourceAddress,
    addresses: () => process.getBuiltinModule('node:os').networkInterfaces(),
    sendEmptyDatagram,
    run: runCommand,
    clock,
  };
}

/** Where packets leave: the interface, the gateway beneath a tunnel, and whether there is a tunnel. */
interface Exit {
  readonly device: string;
  readonly tunnel: boolean;
  /** The interface itself, or the best one beneath the tunnel; null: no readable table names it. */
  readonly beneath: Route | null;
}

const folderOf = (device: string): string => `/sys/class/net/${device}`;

function isTunnel(machine: LinuxMachine, device: string): boolean {
  const folder = folderOf(device);
  return machine.exists(`${folder}/tun_flags`) || isTunnelType(machine.read(`${folder}/type`));
}

function kindOf(machine: LinuxMachine, device: string): InterfaceKind {
  const folder = folderOf(device);
  const wireless = machine.exists(`${folder}/wireless`) || machine.exists(`${folder}/phy80211`);
  return wireless ? 'wireless' : 'wired';
}

/** The interface that the kernel sends from, after all rules and tables; null: no route. */
function askedDevice(
  machine: LinuxMachine,
  likely: string | undefined,
  tunnels: readonly string[],
): string | null {
  const source = machine.sourceAddress(4) ?? machine.sourceAddress(6);
  if (source === null) return null;
  const owners = Object.entries(machine.addresses()).filter(([, addresses]) =>
    addresses?.some(({ address }) => address === source),
  );
  // A tunnel may use the address of another interface; one that no program currently holds has no visible address.
  return owners.find(([device]) => device === likely)?.[0] ?? owners[0]?.[0] ?? tunnels[0] ?? likely ?? null;
}

function exitOf(machine: LinuxMachine): Exit | null {
  const routes4 = defaultRoutes(machine.read('/proc/net/route'));
  const tunnels = machine.list('/sys/class/net').filter((device) => isTunnel(machine, device));
  // The IPv6 table also contains every local address, and on most machines it need not be read.
  const routes =
    routes4.length > 0 && tunnels.length === 0
      ? routes4
      : [...routes4, ...defaultRoutes6(machine.read('/proc/net/ipv6_route'))];
  const [best] = routes;
  // The tables contain the result of the main rules. VPNs add rules of their own, and then the kernel has to be
  // queried, which takes about 3 ms of a helper's start-up.
  const device =
    best !== undefined && tunnels.length === 0 ? best.device : askedDevice(machine, best?.device, tunnels);
  if (device === null) return null;
  const tunnel = tunnels.includes(device);
  const beneath = tunnel
    ? routes.find((route) => !tunnels.includes(route.device))
    : routes.find((route) => route.device === device);
  return { device, tunnel, beneath: beneath ?? null };
}

function resolved4(machine: LinuxMachine, route: Route): string | null {
  return route.family === 4 ? neighbour4(machine.read('/proc/net/arp'), route) : null;
}

async function resolved6(machine: LinuxMachine, route: Route): Promise<string | null> {
  const args = ['-6', 'neigh', 'show', route.gateway ?? '', 'dev', route.device];
  return neighbour6((await machine.run('ip', args)) ?? '');
}

/** The gateway's link-layer address, prompted by a datagram if necessary; null: it does not answer. */
async function resolve(machine: LinuxMachine, route: Route): Promise<string | null> {
  if (route.gateway === null) return null;
  const look = (): Promise<string | null> | string | null =>
    route.family === 4 ? resolved4(machine, route) : resolved6(machine, route);
  const known = await look();
  if (known !== null) return known;
  machine.sendEmptyDatagram(route.family === 4 ? route.gateway : `${route.gateway}%${route.device}`);
  for (const delayMs of RESOLVING_MS) {
    await new Promise<void>((done) => machine.clock.after(delayMs, done));
    const found = await look();
    if (found !== null) return found;
  }
  return null;
}

function factsOf(machine: LinuxMachine, exit: Exit, linkLayer: string | null, ssid: string): NetworkFacts {
  const { beneath, device, tunnel } = exit;
  const kind = tunnel && beneath === null ? 'other' : kindOf(machine, beneath?.device ?? device);
  return { gateway: beneath?.gateway ?? '', linkLayer, kind, ssid, tunnel };
}

/** The route of an interface used only by policy rules: its table cannot be read, but queried. */
async function ruledRoute(machine: LinuxMachine, device: string): Promise<Route | null> {
  for (const family of [4, 6] as const) {
    const answer = (await machine.run('ip', ['-o', 'route', 'get', PUBLIC_ADDRESSES[family]])) ?? '';
    const gateway = gatewayOfRouteGet(answer);
    if (gateway !== null) return { device, gateway, metric: 0, family: gateway.includes(':') ? 6 : 4 };
  }
  return null;
}

/** Whether files alone contain everything about the interface beneath. */
function doFilesSuffice(machine: LinuxMachine, { beneath, tunnel }: Exit, mac: string | null): boolean {
  if (beneath === null) return tunnel;
  return kindOf(machine, beneath.device) !== 'wireless' && (mac !== null || beneath.gateway === null);
}

function snapshotOf(machine: LinuxMachine): NetworkSnapshot {
  const exit = exitOf(machine);
  if (exit === null) return { mark: 'none', route: 'none', facts: null, goodForMs: null };
  const { device, tunnel, beneath } = exit;
  const mac = beneath === null ? null : resolved4(machine, beneath);
  const route = JSON.stringify([device, tunnel, beneath?.device, beneath?.gateway]);
  // Counts how often the Ethernet or radio link went down and up, because another network may have the same addresses.
  const links = beneath === null ? '' : machine.read(`${folderOf(beneath.device)}/carrier_changes`).trim();
  return {
    mark: `${route} ${mac} ${links}`,
    route,
    facts: doFilesSuffice(machine, exit, mac) ? factsOf(machine, exit, mac, '') : 'ask',
    goodForMs: tunnel || beneath?.family === 4 ? null : UNSEEN_GOOD_FOR_MS,
  };
}

/** The network of a Linux machine. */
export function linuxSource(machine: LinuxMachine): NetworkSource {
  return {
    snapshot: () => snapshotOf(machine),
    async examine() {
      const exit = exitOf(machine);
      if (exit === null) return null;
      const beneath = exit.beneath ?? (exit.tunnel ? null : await ruledRoute(machine, exit.device));
      if (beneath === null) return factsOf(machine, exit, null, '');
      const wireless = kindOf(machine, beneath.device) === 'wireless';
      const [mac, ssid] = await Promise.all([
        resolve(machine, beneath),
        wireless ? readSsid(machine.run, beneath.device) : '',
      ]);
      return factsOf(machine, { ...exit, beneath }, mac, ssid);
    },
  };
}
