// A JetStream key-value bucket as the fleet cache needs it: changes to follow, values to put.
import type { FleetSettings } from '../config.ts';
import { connectTo } from '../survey/connect.ts';
import { type KV, Kvm, type NatsConnection } from '../survey/nats.ts';

/** What changed under a key; `value` null: it was deleted. */
export interface BucketChange {
  readonly key: string;
  readonly value: Uint8Array | null;
  /** How many of those known to follow were not delivered yet. */
  readonly waiting: number;
}

/** Called with a message for people, in which no host is named; `isTrouble`: nothing is shared until the next one. */
export type Say = (message: string, isTrouble: boolean) => void;

/** A whole organisation's machines would otherwise dial a lost server every second. */
const RECONNECT_MS = 30_000;

export interface Bucket {
  /** All present values under the filter, then every change, until the bucket or the connection is gone. */
  follow(filter: string): Promise<AsyncIterable<BucketChange>>;
  put(key: string, value: string): Promise<void>;
  /** How many values there are, under any filter. */
  held(): Promise<number>;
  close(): Promise<void>;
}

/** A bucket that the first machine had to make keeps a value for as long as it is used. */
async function open(
  connection: NatsConnection,
  { bucket, publish }: FleetSettings,
  freshMs: number,
): Promise<KV> {
  const manager = new Kvm(connection);
  return publish ? manager.create(bucket, { history: 1, ttl: freshMs }) : manager.open(bucket);
}

/** Says when the connection is lost, and when it is made again, which the client does by itself. */
export async function tellOf(connection: Pick<NatsConnection, 'status'>, say: Say): Promise<void> {
  for await (const { type } of connection.status())
    if (type === 'disconnect') say('the connection is lost', true);
    else if (type === 'reconnect') say('the connection is made again', false);
}

/**
 * Connects to the server and opens the bucket; rejects with the reason. `freshMs`: how long a value is used; `say`: where
 * a lost connection is reported.
 */
export async function connectBucket(settings: FleetSettings, freshMs: number, say: Say): Promise<Bucket> {
  const { server, credsFile, nkeyFile, caFile } = settings;
  const options = { servers: [server], credsFile, nkeyFile, caFile, token: null };
  const connection = await connectTo({ ...options, reconnectMs: RECONNECT_MS });
  void tellOf(connection, say);
  try {
    const bucket = await open(connection, settings, freshMs);
    return {
      async follow(filter) {
        const entries = await bucket.watch({ key: filter });
        void connection.closed().then(() => entries.stop());
        return (async function* () {
          for await (const { key, operation, value, delta = 0 } of entries)
            yield { key, value: operation === 'PUT' ? value : null, waiting: delta };
        })();
      },
      put: async (key, value) => void (await bucket.put(key, value)),
      held: async () => (await bucket.status()).values,
      close: () => connection.close(),
    };
  } catch (error) {
    await connection.close();
    throw error;
  }
}
