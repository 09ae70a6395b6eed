// The connection to a NATS server: credentials, trust, and the one sentence for each thing that can go wrong.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '@photofinish/shared/web/untrusted';
import { Complaint, EXIT_FAILED } from '../cli/usage.ts';
import { certificateReason } from '../race/tcp-failure.ts';
import { certificatesIn } from '../trust.ts';
import { PROGRAM } from '../version.ts';
import {
  type Authenticator,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from './nats.ts';

/** How the user gives what a connection needs. */
interface ServerWords {
  readonly credentials: string;
  readonly ca: string;
}

const ON_COMMAND_LINE: ServerWords = { credentials: '--creds or --nkey', ca: '--tls-ca FILE' };

export interface ServerOptions {
  /** `nats://[USER:PASSWORD@]HOST:PORT` or `tls://...`; several are those of a cluster. */
  readonly servers: readonly string[];
  readonly credsFile: string | null;
  readonly nkeyFile: string | null;
  /** Of a server of one's own. */
  readonly token?: string;
  /** PEM file with the certificates trusted instead of those bundled with Node.js. */
  readonly caFile: string | null;
  /** Minimum delay between attempts to reconnect; default: a second. */
  readonly reconnectMs?: number;
  /** Absent: as on the command line. */
  readonly words?: ServerWords;
}

const CONNECT_TIMEOUT_MS = 5000;
/** Attempts to reconnect never end, because a server that restarts loses nothing. */
const RECONNECT_MS = 1000;

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Complaint('bad-file', `${path} cannot be read: ${(error as Error).message}`);
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Complaint('bad-usage', 'in a server\'s address, "%" in user or password is written "%25"');
  }
}

/**
 * Credentials may be rotated while connected, so each attempt reads the file again. While it is being written the last
 * good ones stay in force, because the client gives up when an authenticator throws.
 */
function fromFile(path: string, authenticator: (bytes: Buffer) => Authenticator): Authenticator {
  let last = authenticator(read(path));
  return (nonce) => {
    try {
      const now = authenticator(readFileSync(path));
      const answer = now(nonce);
      last = now;
      return answer;
    } catch {
      return last(nonce);
    }
  };
}

/** The line with a seed: `nk -gen user -pubout` prints the public key below it. Throws a Complaint if there is none. */
function seedIn(path: string, bytes: Buffer): Buffer {
  const lines = bytes.toString('utf8').split('\n');
  const seed = lines.find((line) => /^\s*S[A-Z2-7]+\s*$/.test(line));
  if (seed === undefined) throw new Complaint('bad-file', `${path} holds no seed of an nkey`);
  return Buffer.from(seed.trim());
}

function authenticatorOf({ servers, credsFile, nkeyFile, token }: ServerOptions): Authenticator | undefined {
  if (token !== undefined) return tokenAuthenticator(token);
  const [first = ''] = servers;
  if (URL.canParse(first)) {
    const { username, password } = new URL(first);
    if (username !== '') return usernamePasswordAuthenticator(decoded(username), decoded(password));
  }
  if (credsFile !== null) return fromFile(credsFile, credsAuthenticator);
  if (nkeyFile !== null) return fromFile(nkeyFile, (bytes) => nkeyAuthenticator(seedIn(nkeyFile, bytes)));
  return undefined;
}

/** The client does not read a user from the address; and messages must not show a password. */
function withoutUser(server: string): string {
  return server.replace(/^([a-z]+:\/\/)?[^/]*@/i, '$1');
}

/** The delay before a server is dialled again, with as much jitter, so that many clients do not return at once. */
function reconnection({ reconnectMs }: ServerOptions): ConnectionOptions {
  if (reconnectMs === undefined) return { reconnectTimeWait: RECONNECT_MS };
  return { reconnectTimeWait: reconnectMs, reconnectJitter: reconnectMs, reconnectJitterTLS: reconnectMs };
}

/**
 * TLS if requested. The client ignores the URL's scheme and would otherwise follow the server's first line, which is
 * not authenticated: an on-path attacker could obtain the credentials in the clear.
 */
function encryption({ servers, caFile }: ServerOptions): ConnectionOptions {
  if (caFile !== null) {
    const pem = read(caFile).toString('utf8');
    try {
      return { tls: { ca: certificatesIn(caFile, pem) } };
    } catch (error) {
      throw new Complaint('bad-file', messageOf(error));
    }
  }
  return servers.some((server) => /^tls:/i.test(server)) ? { tls: {} } : {};
}

function isRefusal(error: unknown): boolean {
  return error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError;
}

function why(error: unknown, { credentials, ca }: ServerWords): string {
  const refuses = `it refuses these credentials (${credentials})`;
  if (isRefusal(error)) return refuses;
  const reason = certificateReason(error);
  // Node advises a flag of its own, which does not apply here. A new CA with the name of an old one fails by signature.
  if (reason === 'unknown-issuer' || reason === 'bad-signature')
    return `its certificate is not trusted (${ca})`;
  const text = messageOf(error);
  return /authoriz|authentic/i.test(text) ? refuses : text;
}

/**
 * Connects, and from then on reconnects without limit. A server that refuses is tried once more after `refusedAgainMs`,
 * because a restarting one refuses for a moment; null: it is not. Throws a Complaint.
 */
export async function connectTo(
  options: ServerOptions,
  refusedAgainMs: number | null = null,
): Promise<NatsConnection> {
  const servers = options.servers.map(withoutUser);
  const authenticator = authenticatorOf(options);
  const named = servers.join(', ');
  const { words = ON_COMMAND_LINE } = options;
  const settings: ConnectionOptions = {
    servers,
    name: PROGRAM,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    ignoreAuthErrorAbort: true,
    ...(authenticator !== undefined && { authenticator }),
    ...reconnection(options),
    ...encryption(options),
  };
  const connection = await connect(settings)
    .catch(async (error: Error) => {
      if (refusedAgainMs === null || !/ECONNREFUSED|refused/.test(error.message)) throw error;
      await delay(refusedAgainMs);
      return connect(settings);
    })
    .catch((error: unknown) => {
      throw new Complaint(
        'no-server',
        `no NATS server can be used at ${named}: ${why(error, words)}`,
        EXIT_FAILED,
      );
    });
  if (connection.info?.jetstream !== true) {
    await connection.close();
    throw new Complaint('no-server', `the NATS server at ${named} has no JetStream`, EXIT_FAILED);
  }
  return connection;
}

/** Whether a disk is full: a server remembers that until it is restarted. */
export function isFull(error: unknown): boolean {
  return /no space left/i.test((error as Error).message);
}

/** What the server's permissions deny this user, or null. The client wraps it if it answers a request. */
export function denialOf(error: unknown): string | null {
  const cause = error instanceof errors.RequestError ? error.cause : error;
  if (!(cause instanceof errors.PermissionViolationError)) return null;
  const { operation, subject } = cause;
  return `its permissions do not let this user ${operation === 'publish' ? 'publish' : 'subscribe'} to "${subject}"`;
}

/** Why the server failed a request, and what to do about it. */
export function reasonOf(error: unknown): string {
  const denial = denialOf(error);
  if (denial !== null) return `the server refuses: ${denial}`;
  const { message } = error as Error;
  return isFull(error) ? `the server's disk is full: ${message}; make room and restart the server` : message;
}

/**
 * Reports once that an unreachable server prevents something, and once that it no longer does, however often it is
 * retried.
 */
export class Troubles {
  readonly #log: (message: string) => void;
  /** By what failed. */
  readonly #reasons = new Map<string, string>();

  constructor(log: (message: string) => void) {
    this.#log = log;
  }

  begun(what: string, error: unknown): void {
    const reason = reasonOf(error);
    if (this.#reasons.get(what) === reason) return;
    this.#reasons.set(what, reason);
    this.#log(`${what}: ${reason}; trying again until it works`);
  }

  over(what: string): void {
    if (this.#reasons.delete(what)) this.#log(`${what}: it works again`);
  }
}

/** To what the client publishes without a request that would fail. */
const WITHOUT_REQUEST = /^\$JS\.(?:ACK|FC|API\.CONSUMER\.MSG\.NEXT)\./;

/**
 * Says that the server refuses the credentials of a connection that is made again, for example because they have expired:
 * to whoever waits for it that is only a server that is away. And says once what the server denies, of each kind, where
 * it would only look like silence. Until the connection ends.
 */
export async function tellRefusals(
  connection: Pick<NatsConnection, 'status'>,
  log: (message: string) => void,
): Promise<void> {
  const what = 'the server cannot be connected to again';
  const troubles = new Troubles(log);
  const denied = new Set<string>();
  for await (const status of connection.status())
    if (status.type === 'reconnect') troubles.over(what);
    else if (status.type !== 'error') continue;
    else if (isRefusal(status.error)) troubles.begun(what, new Error(why(status.error, ON_COMMAND_LINE)));
    else if (status.error instanceof errors.PermissionViolationError) {
      const [kind] = WITHOUT_REQUEST.exec(status.error.subject) ?? [];
      if (kind === undefined || denied.has(kind)) continue;
      denied.add(kind);
      log(reasonOf(status.error));
    }
}
