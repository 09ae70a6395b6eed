// Opens what the rows measure with: the scene, our command line on it, and contestants, each once.
import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import { type Absent, type Contestant, isAbsent, type Opener } from '../contestant.ts';
import { commandLine } from '../photofinish.ts';
import { openScene } from '../scene.ts';
import type { Bench } from './row.ts';

export interface OpenBench extends Bench {
  /** Who is told of progress from now on. */
  watch(listener: (text: string) => void): void;
  /** Whoever was asked for until now. */
  present(): { readonly contestants: readonly Contestant[]; readonly absent: readonly Absent[] };
  close(): Promise<void>;
}

const isThere = (entry: Contestant | Absent): entry is Contestant => !isAbsent(entry);

/** Rejects where no scene can be opened. */
export async function openBench(seed: number): Promise<OpenBench> {
  const scene = await openScene(seed);
  const opened = new Map<Opener, Contestant | Absent>();
  let listener = (_text: string): void => {};
  const present = () => {
    const all = [...opened.values()];
    return { contestants: all.filter(isThere), absent: all.filter(isAbsent) };
  };
  return {
    scene,
    command: commandLine(scene),
    random: seededRandom(seed),
    async open(openers) {
      for (const opener of openers) if (!opened.has(opener)) opened.set(opener, await opener(scene));
      const all = openers.flatMap((opener) => opened.get(opener) ?? []);
      return all.filter(isThere);
    },
    progress: (text) => listener(text),
    watch(next) {
      listener = next;
    },
    present,
    async close() {
      try {
        for (const contestant of present().contestants) await contestant.close();
      } finally {
        await scene.close();
      }
    },
  };
}
