// What of the NATS clients is used, in one place: these packages are CommonJS, so that they are bundled apart.
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

export { connect } from './nats-transport.ts';
