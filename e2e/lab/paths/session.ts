// Opens what the rows measure with: the testbed, our command line on it, and clients, each once.
import { isDeepStrictEqual } from 'node:util';
import { seededRandom } from '@photofinish/shared/testing/seeded-random';
import { type Absent, type Client, isAbsent, type Opener } from '../client.ts';
import type { Journal } from '../journal.ts';
import { commandLine } from '../photofinish.ts';
import type { ServedTestbed } from '../testbed.ts';
import type { Line } from './record.ts';
import type { Session } from './row.ts';

export interface OpenSession extends Session {
  /** Who is told of progress from now on. */
  watch(listener: (text: string) => void): void;
  /** Whoever was asked for until now. */
  present(): { readonly clients: readonly Client[]; readonly absent: readonly Absent[] };
  close(): Promise<void>;
}

const isThere = (entry: Client | Absent): entry is Client => !isAbsent(entry);

/** A session of rows on that testbed; what it closes is its clients. */
export function openSession(
  testbed: ServedTestbed,
  seed: number,
  journal: Journal<object, object, Line>,
): OpenSession {
  const opened = new Map<Opener, Client | Absent>();
  let listener = (_text: string): void => {};
  const present = () => {
    const all = [...opened.values()];
    return { clients: all.filter(isThere), absent: all.filter(isAbsent) };
  };
  return {
    testbed,
    command: commandLine(testbed),
    random: seededRandom(seed),
    async open(openers) {
      for (const opener of openers) if (!opened.has(opener)) opened.set(opener, await opener(testbed));
      const all = openers.flatMap((opener) => opened.get(opener) ?? []);
      return all.filter(isThere);
    },
    async record(where, { name, title, kind }, measure) {
      const isIt = (line: Line) =>
        line.kind === 'turn' &&
        isDeepStrictEqual([line.client, line.scenario, line.turn], [name, where.scenario, where.turn]);
      if (journal.turns.some(isIt)) return;
      const trials = await measure();
      const client = { client: name, title, clientKind: kind };
      await journal.append({ kind: 'turn', ...where, ...client, endedAtMs: Date.now(), trials });
    },
    progress: (text) => listener(text),
    watch(next) {
      listener = next;
    },
    present,
    async close() {
      for (const client of present().clients) await client.close();
    },
  };
}
