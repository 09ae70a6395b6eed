// Networks of our own without root: a command that needs them is run as root of a user namespace, where the kernel
// allows one to its users, with network and mounts of its own.
import { runCommand } from '../child-process.ts';

/** A command line. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
}

const OWN = ['--user', '--map-root-user', '--net', '--mount'];
/**
 * `ip netns` keeps its names below /run, which is another's: what it sees there is a file system of the command's own.
 * The mount ends with the last process inside, and so do the networks.
 */
const PREPARE = `
  if [ -d /run/netns ]; then mount -t tmpfs tmpfs /run/netns; else mount -t tmpfs tmpfs /run; fi
  ip link set lo up
  exec "$@"`;

/** The same command as root of a user namespace. It has a loopback device and no other network. */
function inUserNamespace({ file, args }: Invocation): Invocation {
  return { file: 'unshare', args: [...OWN, 'sh', '-ec', PREPARE, 'sh', file, ...args] };
}

/** Whether the kernel lets this user have such a namespace, found out by trying. */
async function allowed(): Promise<boolean> {
  const { file, args } = inUserNamespace({ file: 'true', args: [] });
  return runCommand(file, args).then(
    ({ code }) => code === 0,
    () => false,
  );
}

/** The command as it can open networks: as it is for root, and where there is no way for anybody else. */
export async function withNetworks(command: Invocation): Promise<Invocation> {
  const wanting = process.platform === 'linux' && process.getuid?.() !== 0;
  return wanting && (await allowed()) ? inUserNamespace(command) : command;
}
