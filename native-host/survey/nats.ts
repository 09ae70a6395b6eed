// The parts of the NATS clients that are used, in one file because these CommonJS packages are bundled separately; and
// a transport that corrects how the clients connect.
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsOptions } from 'node:tls';
import {
  type ConnectionOptions,
  errors,
  hasWsProtocol,
  type NatsConnection,
  NatsConnectionImpl,
  Servers,
  setTransportFactory,
} from '@nats-io/transport-node';
import { NodeTransport, nodeResolveHost } from '@nats-io/transport-node/lib/node_transport.js';

export {
  AckPolicy,
  type Consumer,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
export { type KV, type KvEntry, Kvm } from '@nats-io/kv';
export {
  type Authenticator,
  type ConnectionOptions,
  credsAuthenticator,
  errors,
  headers,
  type NatsConnection,
  nanos,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';

type Connect = NodeTransport['connect'];

/** A server of the client's pool. */
interface Dialled {
  readonly hostname: string;
  readonly port: number;
  /** The name that it was resolved from; empty: it is dialled by its address. */
  readonly tlsName: string;
}

function hostsOf(servers: ConnectionOptions['servers']): string[] {
  const pool = new Servers();
  pool.setServers(servers === undefined ? [] : [servers].flat());
  return pool.getServers().map(({ hostname }) => hostname);
}

/**
 * The names of which a server's certificate must have one. Servers are gossiped before TLS, when an on-path attacker
 * may add one, and public CAs issue certificates to anyone: without a CA of the user's own, a gossiped server has to be
 * one that the user named.
 */
function identities({ hostname, tlsName }: Dialled, { servers, tls }: ConnectionOptions): readonly string[] {
  const named = hostsOf(servers);
  const own = tlsName === '' ? hostname : tlsName;
  if (named.includes(own)) return [own];
  if (tls?.ca === undefined) return named;
  return tlsName === '' ? [...named, own] : [own];
}

/**
 * The client's own transport, with two corrections: a server dialled by its address is verified against that, not
 * against "localhost", Node's default without a name; and the socket is destroyed when the client gives the server up,
 * or a command would not end, and what a server sends would be buffered without limit.
 */
class Transport extends NodeTransport {
  #identities: readonly string[] = [];
  #dialled: Socket | null = null;

  override connect(server: Dialled, options: Parameters<Connect>[1]): ReturnType<Connect> {
    this.#identities = identities(server, options);
    return super.connect(server, options);
  }

  override async dial({ hostname, port }: Pick<Dialled, 'hostname' | 'port'>): Promise<Socket> {
    const socket = createConnection({ host: hostname, port, noDelay: true });
    this.#dialled = socket;
    await once(socket, 'connect');
    return socket;
  }

  override startTLS(): ReturnType<NodeTransport['startTLS']> {
    const names = this.#identities;
    const check: TlsOptions['checkServerIdentity'] = (_, certificate) =>
      names.reduce<Error | undefined>(
        (fault, name) => fault && checkServerIdentity(name, certificate),
        new Error('the server has no name to verify'),
      );
    const tls: ConnectionOptions['tls'] & Pick<TlsOptions, 'checkServerIdentity'> = {
      ...this.options.tls,
      checkServerIdentity: check,
    };
    this.options = { ...this.options, tls };
    return super.startTLS();
  }

  override async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      yield* super[Symbol.asyncIterator]();
    } finally {
      this.#dialled?.destroy();
    }
  }

  override async close(error?: Error): Promise<void> {
    await super.close(error);
    // Which closes nothing before the server has greeted.
    if (!this.connected) this.#dialled?.destroy();
  }
}

/** Connects to the first server that can be used. Rejects with the error of the last one otherwise. */
export async function connect(options: ConnectionOptions): Promise<NatsConnection> {
  if (hasWsProtocol(options))
    throw errors.InvalidArgumentError.format('servers', 'WebSockets are not supported');
  setTransportFactory({ factory: () => new Transport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}
