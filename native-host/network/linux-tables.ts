// Parses Linux kernel tables (routes of both families, neighbours, kinds of interfaces) and what tools print about a
// wireless network, from whichever tool is available; none of them needs privileges to read it. Never throws, whatever
// they contain.
import { linkLayerAddress } from './key.ts';
import type { RunCommand } from './system.ts';

export interface Route {
  readonly device: string;
  /** Dotted or colon-hexadecimal; null: the route has no gateway, like those of tunnels. */
  readonly gateway: string | null;
  readonly metric: number;
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

/** The default routes of `/proc/net/route`, best first. A VPN's two halves (0/1 and 128/1) count as one. */
export function defaultRoutes(procNetRoute: string): Route[] {
  const routes: (Route & { readonly prefixBits: number })[] = [];
  for (const [device, destination, gateway, flags, , , metric, mask] of fields(procNetRoute).slice(1)) {
    if (device === undefined || gateway === undefined || mask === undefined) continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    // Both columns are hexadecimal in the host's byte order, which is little-endian wherever browsers run.
    const whole = destination === '00000000' && mask === '00000000';
    const half = mask === '00000080' && (destination === '00000000' || destination === '00000080');
    if ((bits & RTF_UP) === 0 || (bits & RTF_REJECT) !== 0 || !(whole || half)) continue;
    const address = [6, 4, 2, 0].map((at) => Number.parseInt(gateway.slice(at, at + 2), 16)).join('.');
    routes.push({
      device,
      gateway: (bits & RTF_GATEWAY) === 0 ? null : address,
      metric: Number(metric),
      prefixBits: half ? 1 : 0,
    });
  }
  return routes
    .toSorted((a, b) => b.prefixBits - a.prefixBits || a.metric - b.metric)
    .map(({ device, gateway, metric }) => ({ device, gateway, metric }));
}

/** The same for `/proc/net/ipv6_route`, which contains the routes of every table. */
export function defaultRoutes6(procNetIpv6Route: string): Route[] {
  const routes: Route[] = [];
  for (const parts of fields(procNetIpv6Route)) {
    const [destination, prefix, , , nextHop, metric, , , flags, device] = parts;
    if (device === undefined || nextHop === undefined || device === 'lo') continue;
    const bits = Number.parseInt(flags ?? '0', 16);
    if (destination !== '0'.repeat(32) || prefix !== '00') continue;
    if ((bits & RTF_UP) === 0 || (bits & RTF_REJECT) !== 0) continue;
    const gateway = (bits & RTF_GATEWAY) === 0 ? null : (nextHop.match(/.{4}/g) ?? []).join(':');
    routes.push({ device, gateway, metric: Number.parseInt(metric ?? '0', 16) });
  }
  return routes.toSorted((a, b) => a.metric - b.metric);
}

/** The gateway in the output of `ip -o route get ADDRESS`; null: the route has none. */
export function gatewayOfRouteGet(ipRoute: string): string | null {
  return / via (?:inet6 )?(\S+)/.exec(ipRoute)?.[1] ?? null;
}

/** The link-layer address of a gateway in `/proc/net/arp`; null if not resolved. */
export function neighbour4(procNetArp: string, route: Route): string | null {
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
