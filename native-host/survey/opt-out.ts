// Who must not be raced in a survey: names with everything below them, addresses and networks.
import { isIP } from 'node:net';
import { parseOrigin } from '@photofinish/shared/web/origin';
import { withoutZone } from '../address/address-bytes.ts';
import { blockList, carriedIpv4 } from '../address/guard.ts';

export interface OptOut {
  /** `host` as in a parsed origin: a name in A-label form, or an address without brackets. */
  refusesHost(host: string): boolean;
  /**
   * An IPv4 address in an IPv6 address (NAT64, 6to4, mapped) is refused like itself; `nat64Prefix`: the network's own.
   * Throws a TypeError for what is not an address.
   */
  refusesAddress(address: string, nat64Prefix?: string | null): boolean;
}

export type OptOutResult =
  | { readonly ok: true; readonly value: OptOut }
  /** Which entry is wrong, and how. */
  | { readonly ok: false; readonly message: string };

type Entry =
  | { readonly kind: 'name' | 'network'; readonly text: string }
  | { readonly kind: 'bad'; readonly why: string };

function readNetwork(text: string): Entry {
  const [address = '', prefix = '', more] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : 128;
  if (isIP(address) === 0 || address.includes('%') || more !== undefined)
    return { kind: 'bad', why: 'a network is an address, a slash and a prefix length' };
  if (!/^\d{1,3}$/.test(prefix) || Number(prefix) > bits)
    return { kind: 'bad', why: `the prefix length is not from 0 to ${bits}` };
  return { kind: 'network', text };
}

function readName(text: string): Entry {
  if (/[:?#@\\]/.test(text)) return { kind: 'bad', why: 'give a name without scheme, port and path' };
  if (text.startsWith('*.'))
    return { kind: 'bad', why: `"${text.slice(2)}" is enough: it covers every name below it` };
  const origin = parseOrigin(text);
  if (!origin.ok) return { kind: 'bad', why: origin.message };
  // "127.1" is an address to a URL, but not to whoever reads the list.
  if (isIP(origin.value.host) !== 0) return { kind: 'bad', why: `write the address as ${origin.value.host}` };
  return { kind: 'name', text: withoutDot(origin.value.host) };
}

function readEntry(text: string): Entry {
  if (text.includes('/') && !text.includes('://')) return readNetwork(text);
  if (isIP(text) === 0) return readName(text);
  if (text.includes('%')) return { kind: 'bad', why: 'an address of a survey has no zone' };
  return { kind: 'network', text };
}

/** A name with the dot of the root is the same name. */
function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** The name, then the names above it. */
function* upwards(name: string): Generator<string> {
  for (let at = 0; at !== -1; ) {
    yield name.slice(at);
    const dot = name.indexOf('.', at);
    at = dot === -1 ? -1 : dot + 1;
  }
}

/** Reads a list of names (`example.org`: it and everything below it), addresses and CIDRs. Never throws. */
export function optOut(entries: readonly string[]): OptOutResult {
  const names = new Set<string>();
  const networks: string[] = [];
  for (const entry of entries) {
    const read = readEntry(entry.trim());
    if (read.kind === 'bad')
      return { ok: false, message: `"${entry}" is not a name, an address or a network: ${read.why}` };
    if (read.kind === 'name') names.add(read.text);
    else networks.push(read.text);
  }
  const refused = blockList(networks);

  function refusesAddress(address: string, nat64Prefix: string | null = null): boolean {
    const bare = withoutZone(address);
    const family = isIP(bare);
    if (family === 0) throw new TypeError(`not an address: ${address}`);
    if (family === 4) return refused.check(bare, 'ipv4');
    const carried = carriedIpv4(bare, nat64Prefix);
    return refused.check(bare, 'ipv6') || (carried !== null && refused.check(carried, 'ipv4'));
  }

  const value: OptOut = {
    refusesHost(host) {
      if (isIP(host) !== 0) return refusesAddress(host);
      return upwards(withoutDot(host)).some((name) => names.has(name));
    },
    refusesAddress,
  };
  return { ok: true, value };
}
