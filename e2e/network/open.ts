// Opens a private network, or says why it cannot: a client and its peers in namespaces, each peer joined to the client
// by a link, with addresses of both families. Everything is removed when the process that opened it ends, even if it is
// killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { runCommand, runOrThrow } from '../child-process.ts';
import {
  beyondNetem,
  type End,
  FORWARDER,
  type Forwarder,
  netemUnavailable,
  type Shape,
  type Shapes,
  shapeEgress,
  startForwarder,
} from './link.ts';
import {
  makeNamespace,
  type Namespace,
  namespaceName,
  orphanedNamespaces,
  thisProcess,
} from './namespace.ts';

/**
 * `veth`: a cable without delay. `tun`: a forwarder that delays and loses, initially the same in both directions.
 * `shaped`: the same with the kernel's netem, if it is available and can reproduce the shape; otherwise a `tun`. Only
 * `tun` supports seeded losses and reports. All carry packets of at most 1500 bytes, one at a time: the kernel's
 * offloads would let larger ones pass.
 */
type LinkKind =
  | { readonly kind: 'veth' }
  | {
      readonly kind: 'tun';
      readonly shape?: Shape;
      /** Determines which packets are lost; default: 1. */
      readonly seed?: number;
    }
  | { readonly kind: 'shaped'; readonly shape?: Shape };

/** The implementation of a link. */
type LinkBackend = 'veth' | 'tun' | 'netem';

interface NetworkOptions<Name extends string> {
  /** Lower-case letters and digits; default: one peer, `server`. At most 255. */
  readonly peers?: readonly Name[];
  readonly link?: LinkKind;
}

/** Addresses of both ends of one link. */
interface Addresses {
  readonly ipv4: string;
  readonly ipv6: string;
  readonly clientIpv4: string;
  readonly clientIpv6: string;
}

/** A namespace at the other end of one of the client's links. */
export interface Peer extends Namespace, Addresses, Pick<Forwarder, 'report' | 'waiting'> {
  /** The client's device of this link. */
  readonly clientDevice: string;
  /** The process that carries this link's packets; null if the kernel does, and then there are no statistics. */
  readonly linkPid: number | null;
  /** Changes the link at runtime. Rejects for a `veth`, which has no shape, and for what netem cannot reproduce. */
  shape(shapes: Shapes): Promise<void>;
}

export interface Network<Name extends string> {
  readonly client: Namespace;
  readonly peers: Readonly<Record<Name, Peer>>;
  readonly linkBackend: LinkBackend;
  /** Ends every process inside and removes the namespaces; idempotent. */
  close(): Promise<void>;
}

const PEER_DEVICE = 'link0';
/** Ethernet's MTU, which nearly every path supports. */
const MTU_BYTES = 1500;
/** Capacity of a device until the forwarder reads it; an overflow would lose packets uncounted. */
const DEVICE_QUEUE_PACKETS = 5000;
/** Ends the processes in the namespaces given as arguments, and removes the namespaces. */
const REMOVE =
  'for name; do kill -KILL $(ip netns pids "$name") 2>/dev/null; ip netns delete "$name" 2>/dev/null; done';

let opened = 0;

/**
 * Starts a process that removes the namespaces when its standard input closes, which also happens if this process is
 * killed.
 */
function startReaper(names: readonly string[]): () => Promise<void> {
  const script = `cat > /dev/null; ${REMOVE}`;
  // In its own process group: an interrupt from the keyboard must not reach it.
  const child = spawn('sh', ['-c', script, 'sh', ...names], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const exited = once(child, 'exit');
  return async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
}

/**
 * Private (RFC 1918) and documentation (RFC 3849) addresses: the helper needs permission to connect to them. Unique
 * local addresses are unsuitable, since address selection ranks them below IPv4 (RFC 6724 section 2.1). Links are
 * numbered from 1.
 */
function addressesOf(index: number): Addresses {
  const [v4, v6] = [`10.77.${index}`, `2001:db8:77:${index.toString(16)}:`];
  return { ipv4: `${v4}.2`, ipv6: `${v6}:2`, clientIpv4: `${v4}.1`, clientIpv6: `${v6}:1` };
}

async function bringUp(namespace: Namespace, device: string, ipv4: string, ipv6: string): Promise<void> {
  // No link-local address and no duplicate address detection: no unsolicited packets, and the addresses are usable at
  // once.
  await namespace.ip('link', 'set', device, 'addrgenmode', 'none');
  const limits = ['mtu', String(MTU_BYTES), 'txqueuelen', String(DEVICE_QUEUE_PACKETS), 'gso_max_segs', '1'];
  await namespace.ip('link', 'set', device, ...limits, 'up');
  await namespace.ip('address', 'add', `${ipv4}/24`, 'dev', device);
  await namespace.ip('address', 'add', `${ipv6}/64`, 'dev', device, 'nodad');
}

async function backendFor(link: LinkKind): Promise<LinkBackend> {
  if (link.kind !== 'shaped') return link.kind;
  const why = beyondNetem(link.shape ?? {}) ?? (await netemUnavailable());
  return why === null ? 'netem' : 'tun';
}

/** Creates the two devices of a link, and the forwarder or netem between them; returns what the link can do. */
async function layLink(
  client: End,
  peer: End,
  backend: LinkBackend,
  seed: number,
): Promise<Partial<Forwarder>> {
  if (backend === 'tun') return startForwarder(client, peer, seed);
  const far = ['peer', 'name', peer.device, 'netns', peer.namespace];
  await runOrThrow('ip', ['link', 'add', client.device, 'netns', client.namespace, 'type', 'veth', ...far]);
  return backend === 'netem' ? { shape: await shapeEgress(client, peer) } : {};
}

const unable = (why: string) => async (): Promise<never> => {
  throw new Error(why);
};

/** A peer as callers see it. */
function joined(peer: Namespace, clientDevice: string, addresses: Addresses, laid: Partial<Forwarder>): Peer {
  return {
    ...peer,
    ...addresses,
    clientDevice,
    linkPid: laid.pid ?? null,
    shape: laid.shape ?? unable('a veth link has no shape'),
    report: laid.report ?? unable('only a tun link gives reports'),
    waiting: laid.waiting ?? unable('only a tun link counts its packets'),
  };
}

/**
 * Opens a network, after removing what killed processes left behind. Rejects if it cannot; check `networkUnavailable`
 * first.
 */
export async function openNetwork<Name extends string = 'server'>(
  options: NetworkOptions<Name> = {},
): Promise<Network<Name>> {
  const { peers: names = ['server' as Name], link = { kind: 'veth' } } = options;
  const orphans = orphanedNamespaces();
  if (orphans.length > 0) await runOrThrow('sh', ['-c', `${REMOVE}; true`, 'sh', ...orphans]);

  opened += 1;
  const owner = thisProcess();
  const nameOf = (role: string) => namespaceName(owner, opened, role);
  const remove = startReaper(['client', ...names].map(nameOf));
  const closes: (() => Promise<void>)[] = [];
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= Promise.all(closes.map((each) => each())).then(remove);
    return closing;
  };

  try {
    const linkBackend = await backendFor(link);
    const client = await makeNamespace(nameOf('client'));
    const peers: [string, Peer][] = [];
    for (const [index, name] of names.entries()) {
      const peer = await makeNamespace(nameOf(name));
      const near = { namespace: client.name, device: `link${index + 1}` };
      const far = { namespace: peer.name, device: PEER_DEVICE };
      const laid = await layLink(near, far, linkBackend, (link.kind === 'tun' ? link.seed : undefined) ?? 1);
      if (laid.close !== undefined) closes.push(laid.close);
      const addresses = addressesOf(index + 1);
      await bringUp(client, near.device, addresses.clientIpv4, addresses.clientIpv6);
      await bringUp(peer, PEER_DEVICE, addresses.ipv4, addresses.ipv6);
      if (link.kind !== 'veth' && link.shape !== undefined)
        await laid.shape?.({ up: link.shape, down: link.shape });
      peers.push([name, joined(peer, near.device, addresses, laid)]);
    }
    return { client, peers: Object.fromEntries(peers) as Record<Name, Peer>, linkBackend, close };
  } catch (error) {
    await close();
    throw error;
  }
}

const TUN = '/dev/net/tun';

async function fails(file: string, args: readonly string[]): Promise<boolean> {
  return runCommand(file, args).then(
    ({ code }) => code !== 0,
    () => true,
  );
}

async function whyNoNamespaces(): Promise<string | null> {
  if (process.platform !== 'linux') return 'network namespaces are Linux';
  if (process.getuid?.() !== 0)
    return 'network namespaces need root, or a user namespace, which npm run lab enters where users may have one';
  if (await fails('ip', ['-V'])) return 'iproute2 is not installed';
  if (await fails('nft', ['--version'])) return 'nftables is not installed';
  const name = namespaceName(thisProcess(), 0, 'trial');
  if (await fails('ip', ['netns', 'add', name])) return 'this machine refuses network namespaces';
  await runCommand('ip', ['netns', 'delete', name]);
  return null;
}

const reasons = new Map<LinkKind['kind'], Promise<string | null>>();

async function findReason(kind: LinkKind['kind']): Promise<string | null> {
  const why = await (reasons.get('veth') ?? whyNoNamespaces());
  if (why !== null || kind === 'veth') return why;
  // A `shaped` link may need the forwarder too: netem cannot reproduce every shape.
  if (!existsSync(TUN)) return `there is no ${TUN}`;
  return existsSync(FORWARDER) ? null : 'the link is not built; run: npm run build';
}

/** Why `openNetwork` cannot work here with that kind of link; null if it can. */
export function networkUnavailable(kind: LinkKind['kind']): Promise<string | null> {
  const known = reasons.get(kind) ?? findReason(kind);
  reasons.set(kind, known);
  return known;
}

/** A command line. */
interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
}

const OWN = ['--user', '--map-root-user', '--net', '--mount'];
/**
 * `ip netns` keeps its names below /run, which belongs to the real root: the command gets its own file system there.
 * The mount disappears with the last process inside, and the networks with it.
 */
const PREPARE = `
  if [ -d /run/netns ]; then mount -t tmpfs tmpfs /run/netns; else mount -t tmpfs tmpfs /run; fi
  ip link set lo up
  exec "$@"`;

/** The same command as root of a user namespace, with a loopback device and no other network. */
function inUserNamespace({ file, args }: Invocation): Invocation {
  return { file: 'unshare', args: [...OWN, 'sh', '-ec', PREPARE, 'sh', file, ...args] };
}

/**
 * The command such that it can open networks: unchanged for root, and also where unprivileged namespaces are
 * unavailable.
 */
export async function withNetworks(command: Invocation): Promise<Invocation> {
  if (process.platform !== 'linux' || process.getuid?.() === 0) return command;
  // Whether the kernel allows this user such a namespace is found out by trying.
  const { file, args } = inUserNamespace({ file: 'true', args: [] });
  return (await fails(file, args)) ? command : inUserNamespace(command);
}
