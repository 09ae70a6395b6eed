// Private networks without root: a command that needs them is run as root of a user namespace, where the kernel allows
// unprivileged ones, with its own network and mount namespaces.
import { runCommand } from '../child-process.ts';

/** A command line. */
export interface Invocation {
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

/** Whether the kernel allows this user such a namespace, determined by trying. */
async function allowed(): Promise<boolean> {
  const { file, args } = inUserNamespace({ file: 'true', args: [] });
  return runCommand(file, args).then(
    ({ code }) => code === 0,
    () => false,
  );
}

/**
 * The command such that it can open networks: unchanged for root, and also where unprivileged namespaces are
 * unavailable.
 */
export async function withNetworks(command: Invocation): Promise<Invocation> {
  const wanting = process.platform === 'linux' && process.getuid?.() !== 0;
  return wanting && (await allowed()) ? inUserNamespace(command) : command;
}
