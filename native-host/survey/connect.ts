// The connection to a NATS server: credentials, trust, and the one sentence for each thing that can go wrong.
import { readFileSync } from 'node:fs';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { PROGRAM } from '../version.ts';
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from './nats.ts';
import { hasJetStream } from './streams.ts';

export interface ServerOptions {
  /** `nats://[USER:PASSWORD@]HOST:PORT` or `tls://...`; several are those of a cluster. */
  readonly servers: readonly string[];
  readonly credsFile: string | null;
  readonly nkeyFile: string | null;
  /** Of a server of one's own; null: none. */
  readonly token: string | null;
  /** PEM file with the certificates trusted instead of the system's. */
  readonly caFile: string | null;
}

const CONNECT_TIMEOUT_MS = 5000;
/** A server that restarts is waited for, without end: nothing is lost meanwhile. */
const RECONNECT_WAIT_MS = 1000;

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Complaint('bad-file', `${path} cannot be read: ${(error as Error).message}`);
  }
}

function authenticatorOf({ servers, credsFile, nkeyFile, token }: ServerOptions): Authenticator | undefined {
  if (token !== null) return tokenAuthenticator(token);
  const [first = ''] = servers;
  if (URL.canParse(first)) {
    const { username, password } = new URL(first);
    if (username !== '')
      return usernamePasswordAuthenticator(decodeURIComponent(username), decodeURIComponent(password));
  }
  if (credsFile !== null) return credsAuthenticator(read(credsFile));
  if (nkeyFile !== null) return nkeyAuthenticator(Buffer.from(read(nkeyFile).toString('utf8').trim()));
  return undefined;
}

/** The client does not read a user from the address; and messages must not show a password. */
function withoutUser(server: string): string {
  return server.replace(/^([a-z]+:\/\/)?[^@/]*@/, '$1');
}

function why(error: unknown): string {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError)
    return 'it refuses these credentials (--creds or --nkey)';
  const text = error instanceof Error ? error.message : String(error);
  return /authoriz|authentic/i.test(text) ? 'it refuses these credentials (--creds or --nkey)' : text;
}

/** Connects; once connected, a lost connection is made again for as long as it takes. Throws a Complaint. */
export async function connectTo(options: ServerOptions): Promise<NatsConnection> {
  const servers = options.servers.map(withoutUser);
  const authenticator = authenticatorOf(options);
  const named = servers.join(', ');
  let connection: NatsConnection;
  try {
    connection = await connect({
      servers,
      name: PROGRAM,
      timeout: CONNECT_TIMEOUT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_WAIT_MS,
      ignoreAuthErrorAbort: true,
      ...(authenticator !== undefined && { authenticator }),
      ...(options.caFile !== null && { tls: { ca: read(options.caFile).toString('utf8') } }),
    });
  } catch (error) {
    throw new Complaint('no-server', `no NATS server can be used at ${named}: ${why(error)}`, EXIT_FAILED);
  }
  if (!hasJetStream(connection)) {
    await connection.close();
    throw new Complaint('no-server', `the NATS server at ${named} has no JetStream`, EXIT_FAILED);
  }
  return connection;
}
