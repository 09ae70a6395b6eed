// Whether this machine lets us make networks of our own, so that what needs one is skipped with a reason, not failed.
import { existsSync } from 'node:fs';
import { runCommand } from '../child-process.ts';
import { FORWARDER } from './forwarder.ts';
import type { LinkKind } from './open.ts';
import { namespaceName, thisProcess } from './owner.ts';

const TUN = '/dev/net/tun';

async function complains(file: string, args: readonly string[]): Promise<boolean> {
  return runCommand(file, args).then(
    ({ code }) => code !== 0,
    () => true,
  );
}

async function whyNoNamespaces(): Promise<string | null> {
  if (process.platform !== 'linux') return 'network namespaces are Linux';
  if (process.getuid?.() !== 0)
    return 'network namespaces need root, or a user namespace, which npm run lab enters where users may have one';
  if (await complains('ip', ['-V'])) return 'iproute2 is not installed';
  if (await complains('nft', ['--version'])) return 'nftables is not installed';
  const name = namespaceName(thisProcess(), 0, 'trial');
  if (await complains('ip', ['netns', 'add', name])) return 'this machine refuses network namespaces';
  await runCommand('ip', ['netns', 'delete', name]);
  return null;
}

const answers = new Map<LinkKind['kind'], Promise<string | null>>();

async function ask(kind: LinkKind['kind']): Promise<string | null> {
  const why = await (answers.get('veth') ?? whyNoNamespaces());
  if (why !== null || kind === 'veth') return why;
  // A shaped link may need the forwarder as well: not every shape is netem's.
  if (!existsSync(TUN)) return `there is no ${TUN}`;
  return existsSync(FORWARDER) ? null : 'the link is not built; run: npm run build';
}

/** Why `openNetwork` cannot work here with that kind of link; null: it can. */
export function networkUnavailable(kind: LinkKind['kind']): Promise<string | null> {
  const known = answers.get(kind) ?? ask(kind);
  answers.set(kind, known);
  return known;
}
