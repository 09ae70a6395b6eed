// Real DNS, one question at a time: the addon queries the system's servers or the user's one. getaddrinfo is the
// fallback for the former, for names that only the system knows (mDNS, NSS modules) and when there is no server.
import { promises as nodeDns } from 'node:dns';
import { comparableName } from '@photofinish/shared/race/discovered';
import { NAT64_NAME } from '../address/nat64.ts';
import { type Clock, systemClock } from '../clock.ts';
import { type DnsAnswer, type DnsResolver, type DnsService, loadQuicAddon } from '../quic/addon.ts';
import {
  type AddressRecord,
  type Answer,
  type DnsClient,
  type FailedAnswer,
  MAX_RECORDS,
  type QueryKind,
} from './answer.ts';

/**
 * Two rounds of five seconds, like the system's own resolver (resolv.conf(5)); a race's time-out is usually shorter.
 */
const QUESTION_TIMEOUT_MS = 10_000;
/** getaddrinfo reports no TTL; Chromium assumes a minute for its answers too (`kCacheEntryTTLSeconds`). */
const GETADDRINFO_TTL_SECONDS = 60;
/**
 * Each call of getaddrinfo occupies one of libuv's four threads for as long as the system takes, so a list of dead names
 * could block all of them, and with them every later name. The other threads are for files and cryptography.
 */
const CALLS_AT_ONCE = 2;
/** Of a call, including waiting in the queue. Hosts on the link answer within half a second (RFC 6762 section 6). */
const GETADDRINFO_TIMEOUT_MS = 1000;
/** Codes meaning that the name has no addresses, or does not exist. */
const NO_ADDRESS = new Set(['ENODATA', 'ENOTFOUND']);

type AddressKind = Exclude<QueryKind, 'HTTPS'>;

/** The system's getaddrinfo: every address of a name in the system's order. Rejects with a code of `node:dns`. */
export type Getaddrinfo = (name: string) => Promise<readonly { address: string; family: number }[]>;

const systemGetaddrinfo: Getaddrinfo = (name) => nodeDns.lookup(name, { all: true, order: 'verbatim' });

export interface DnsOptions {
  /** `address:port` of a DNS server; null: the system's servers and hosts file. */
  readonly server: string | null;
  /** Replaces the system's currently configured servers. */
  readonly systemResolver?: () => DnsResolver;
  readonly getaddrinfo?: Getaddrinfo;
  /** Replaces getaddrinfo as the fallback of DNS. */
  readonly behindDns?: Getaddrinfo;
}

/**
 * A client for one discovery, with the current configuration. Never throws: if there is nothing to ask, every answer
 * says so.
 */
export function openDns({
  server,
  systemResolver,
  getaddrinfo = systemGetaddrinfo,
  behindDns = systemLastResort,
}: DnsOptions): DnsClient {
  try {
    const { DnsResolver } = loadQuicAddon();
    if (server !== null) {
      const resolver = new DnsResolver(server);
      return { ask: (name, kind, signal) => askResolver(resolver, name, kind, signal) };
    }
    return systemClient(systemResolver?.() ?? new DnsResolver(), behindDns);
  } catch (error) {
    const reason = (error as Error).message;
    if (server === null) return getaddrinfoClient(getaddrinfo, reason);
    return { ask: async (_name, kind) => failed(kind, reason) };
  }
}

function failed(kind: QueryKind, message: string): FailedAnswer {
  return { ok: false, kind, message };
}

function serviceOf({ port, ...service }: DnsService) {
  return { ...service, port: port ?? null };
}

function untried(records: number): { readonly untried?: number } {
  return records > 0 ? { untried: records } : {};
}

function answerOf(kind: QueryKind, answer: DnsAnswer): Answer {
  if (answer.outcome === 'failed') return failed(kind, answer.message);
  if (answer.outcome === 'unasked') return { ...failed(kind, answer.message), unasked: true };
  const beyond = untried(answer.leftOut);
  if (answer.outcome === 'services')
    return { ok: true, kind: 'HTTPS', services: answer.services.map(serviceOf), ...beyond };
  return kind === 'HTTPS'
    ? failed(kind, 'addresses were given for a question that was about services')
    : { ok: true, kind, addresses: answer.addresses, ...beyond };
}

/** Asks through the addon; a name that DNS cannot represent has no records. */
async function askResolver(resolver: DnsResolver, name: string, kind: QueryKind, signal: AbortSignal) {
  if (signal.aborted) return failed(kind, 'the question was cancelled');
  const { DnsQuestion } = loadQuicAddon();
  let question: InstanceType<typeof DnsQuestion>;
  try {
    question = new DnsQuestion(resolver, name, kind, QUESTION_TIMEOUT_MS);
  } catch (error) {
    return failed(kind, (error as Error).message);
  }
  const cancel = (): void => question.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return answerOf(kind, await question.ask());
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** getaddrinfo cannot be cancelled, but waiting for it can. */
function abandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abandon = (): void => reject(new Error('the question was cancelled'));
    if (signal.aborted) abandon();
    else signal.addEventListener('abort', abandon, { once: true });
  });
}

type FamilyAnswers = { readonly A: Answer; readonly AAAA: Answer };

async function askSystem(
  getaddrinfo: Getaddrinfo,
  name: string,
  signal: AbortSignal,
): Promise<FamilyAnswers> {
  const both = (make: (kind: AddressKind) => Answer): FamilyAnswers => ({ A: make('A'), AAAA: make('AAAA') });
  try {
    const found = await Promise.race([getaddrinfo(name), abandoned(signal)]);
    const recordsOf = (family: number): AddressRecord[] =>
      found
        .filter((entry) => entry.family === family)
        .map(({ address }) => ({ address, ttlSeconds: GETADDRINFO_TTL_SECONDS }));
    return both((kind) => {
      const records = recordsOf(kind === 'A' ? 4 : 6);
      const addresses = records.slice(0, MAX_RECORDS);
      return { ok: true, kind, addresses, ...untried(records.length - addresses.length) };
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (NO_ADDRESS.has(code ?? '')) return both((kind) => ({ ok: true, kind, addresses: [] }));
    return both((kind) => failed(kind, code === undefined ? message : `getaddrinfo: ${code}`));
  }
}

function isPositive(answer: Answer): boolean {
  return answer.ok && answer.kind !== 'HTTPS' && answer.addresses.length > 0;
}

/**
 * The system's DNS servers, and getaddrinfo once for a name without addresses in any queried family. Lives for one
 * discovery, because it caches its questions.
 */
function systemClient(resolver: DnsResolver, getaddrinfo: Getaddrinfo): DnsClient {
  const questionsByName = new Map<string, Partial<Record<AddressKind, Promise<Answer>>>>();
  const lastResorts = new Map<string, Promise<FamilyAnswers>>();
  return {
    async ask(name, kind, signal) {
      if (kind === 'HTTPS') return askResolver(resolver, name, kind, signal);
      const questions = questionsByName.get(name) ?? {};
      questionsByName.set(name, questions);
      questions[kind] = askResolver(resolver, name, kind, signal);
      const answer = await questions[kind];
      // Only DNS knows of a DNS64, and answers wait for what it says.
      if (isPositive(answer) || signal.aborted || name === NAT64_NAME) return answer;
      const other = await questions[kind === 'A' ? 'AAAA' : 'A'];
      if (signal.aborted || (other !== undefined && isPositive(other))) return answer;
      const last = lastResorts.get(name) ?? askSystem(getaddrinfo, name, signal);
      lastResorts.set(name, last);
      const found = (await last)[kind];
      // Where DNS is authoritative, its answer is used, and silence of getaddrinfo changes nothing.
      return isPositive(found) || (!found.ok && answer.ok && isBeyondDns(name)) ? found : answer;
    },
  };
}

/** Used if there is no server to ask: addresses from getaddrinfo, and the reason why there are no HTTPS records. */
function getaddrinfoClient(getaddrinfo: Getaddrinfo, reason: string): DnsClient {
  const found = new Map<string, Promise<FamilyAnswers>>();
  return {
    async ask(name, kind, signal) {
      if (kind === 'HTTPS') return failed(kind, reason);
      const answers = found.get(name) ?? askSystem(getaddrinfo, name, signal);
      found.set(name, answers);
      return (await answers)[kind];
    },
  };
}

/**
 * The same function with limited concurrency, shared by all callers; rejects with code `ETIMEOUT` after the maximum
 * wait.
 */
export function lastResort(getaddrinfo: Getaddrinfo, after: Clock['after']): Getaddrinfo {
  const line: (() => void)[] = [];
  let calls = 0;

  function next(): void {
    if (calls >= CALLS_AT_ONCE) return;
    line.shift()?.();
  }

  return (name) =>
    new Promise((resolve, reject) => {
      const call = (): void => {
        calls += 1;
        void getaddrinfo(name)
          .then(resolve, reject)
          .finally(() => {
            forget();
            calls -= 1;
            next();
          });
      };
      const forget = after(GETADDRINFO_TIMEOUT_MS, () => {
        const at = line.indexOf(call);
        if (at !== -1) line.splice(at, 1);
        reject(Object.assign(new Error('getaddrinfo did not answer in time'), { code: 'ETIMEOUT' }));
      });
      line.push(call);
      next();
    });
}

/**
 * Whether DNS is not authoritative for a name: link-local names (RFC 6762), and single labels, which belong to the
 * system.
 */
function isBeyondDns(name: string): boolean {
  const bare = comparableName(name);
  return !bare.includes('.') || bare.endsWith('.local');
}

const systemLastResort = lastResort(systemGetaddrinfo, systemClock.after);
