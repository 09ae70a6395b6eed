// A real NATS server with JetStream on free ports of loopback.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { goProgram } from '../test-programs.ts';
import { type RunningProgram, startProgram } from './stack.ts';

const LISTEN = '127.0.0.1:-1';

const CERT = 'server.pem';
const KEY = 'server.key';

const portsSchema = v.object({ nats: v.tuple([v.string()]), monitoring: v.tuple([v.string()]) });
type Ports = v.InferOutput<typeof portsSchema>;

export interface NatsOptions {
  /** Whether every message is on the disk before it is acknowledged; default: by the server's own default, later. */
  readonly syncsAlways?: boolean;
  /** The only user; default: no authentication. */
  readonly user?: {
    readonly name: string;
    readonly password: string;
    /** Subjects that it may not publish to; default: none. */
    readonly denied?: readonly string[];
  };
  /** Certificate and key, PEM; default: there is no TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

export interface RunningNats extends RunningProgram {
  /** `nats://ADDRESS:PORT`. */
  readonly url: string;
  /** Of its monitoring over HTTP. */
  readonly monitoringUrl: string;
  /** The directory of its data. */
  readonly store: string;
}

function configOf(dir: string, store: string, { syncsAlways = false, user, tls }: NatsOptions): string {
  const quoted = (text: string) => JSON.stringify(text);
  const denied = (user?.denied ?? []).map(quoted).join(', ');
  const login =
    user &&
    `users: [{ user: ${quoted(user.name)}, password: ${quoted(user.password)}, permissions: { publish: { deny: [${denied}] } } }]`;
  return `listen: "${LISTEN}"
http: "${LISTEN}"
ports_file_dir: ${quoted(dir)}
jetstream { store_dir: ${quoted(store)}${syncsAlways ? ', sync_interval: always' : ''} }
${login === undefined ? '' : `authorization { ${login} }\n`}${tls === undefined ? '' : `tls { cert_file: ${quoted(join(dir, CERT))}, key_file: ${quoted(join(dir, KEY))} }\n`}`;
}

/** Null until the file is written to its end. */
async function readPorts(file: string): Promise<Ports | null> {
  try {
    return v.parse(portsSchema, JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * Starts a server with everything that it writes in `dir`, which is created, and resolves once it listens. It ends with
 * `stop`, and with this process. Throws as `goProgram` and `startProgram` do.
 */
export async function startNats(dir: string, options: NatsOptions = {}): Promise<RunningNats> {
  const [store, config] = [join(dir, 'store'), join(dir, 'server.conf')];
  await mkdir(dir, { recursive: true });
  await writeFile(config, configOf(dir, store, options));
  if (options.tls !== undefined) {
    await writeFile(join(dir, CERT), options.tls.cert);
    await writeFile(join(dir, KEY), options.tls.key, { mode: 0o600 });
  }
  const published = Promise.withResolvers<Ports>();
  const running = await startProgram({
    name: 'the NATS server',
    file: goProgram('nats-server'),
    args: ['-c', config],
    async ready(pid) {
      const ports = await readPorts(join(dir, `nats-server_${pid}.ports`));
      if (ports !== null) published.resolve(ports);
      return ports !== null;
    },
  });
  const { nats, monitoring } = await published.promise;
  return { ...running, store, url: nats[0], monitoringUrl: monitoring[0] };
}
