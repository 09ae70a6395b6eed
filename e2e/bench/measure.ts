// Compares alternatives: every round runs each side once, in a random order, so that a machine which slows down affects
// all of them. The result is the ratio of medians, with the interval that the samples support. A benchmark publishes it
// with the machine that it ran on, as a table, and with every sample as JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { arch, cpus, release, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { median, percentile } from '@photofinish/shared/race/statistics';
import { type Random, seededRandom } from '@photofinish/shared/testing/seeded-random';
import { beginStep, figures, formatTable } from '../run/display.ts';
import { SCRATCH, TOP } from '../scratch.ts';

/** A uniformly random permutation (Fisher and Yates). */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return order;
}

/** Enough that each end of a 95 % interval rests on 50 resamples. */
const RESAMPLES = 2000;
const TAILS = { low: 0.025, high: 0.975 };

export interface Side {
  readonly name: string;
  /** Runs once and returns the cost, in the plan's unit. */
  run(round: number): Promise<number>;
  /** The goal: this side's median divided by the baseline's. */
  readonly ratioAtMost?: number;
  /** The goal: the median of what this side costs beyond the baseline in the same round. */
  readonly beyondAtMost?: number;
}

interface Plan {
  readonly title: string;
  readonly unit: string;
  /** The first is the baseline of the others. */
  readonly sides: readonly [Side, ...Side[]];
  readonly rounds: number;
  /** Rounds run first and discarded. */
  readonly warmUpRounds: number;
  readonly seed: number;
  /** Called after every round, including warm-up. */
  readonly onRound?: (done: number, of: number) => void;
}

interface SideResult {
  readonly name: string;
  /** By round. */
  readonly samples: readonly number[];
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
}

/** A side compared with the baseline by one figure, with the figure's 95 % bootstrap interval. */
interface Comparison {
  readonly side: string;
  readonly baseline: string;
  readonly low: number;
  readonly high: number;
  readonly atMost: number | null;
}

/** The side's median divided by the baseline's. */
type Ratio = Comparison & { readonly ratio: number };
/** What a side costs beyond the baseline in the same round: the median. */
type ExcessCost = Comparison & { readonly beyond: number };

export interface Measurement extends Omit<Plan, 'sides' | 'onRound'> {
  readonly sides: readonly SideResult[];
  readonly ratios: readonly Ratio[];
  readonly beyond: readonly ExcessCost[];
}

/** Throws RangeError without values. */
export function medianOf(values: readonly number[]): number {
  const middle = median(values);
  if (middle === null) throw new RangeError('median of nothing');
  return middle;
}

/** Median and spread of one side's samples; throws RangeError without samples. */
export function summarise(name: string, samples: readonly number[]): SideResult {
  const sorted = samples.toSorted((a, b) => a - b);
  const [p10, p90] = [percentile(sorted, 0.1), percentile(sorted, 0.9)];
  return { name, samples, median: medianOf(samples), p10, p90 };
}

/** A figure of a side and the baseline, whose samples are paired by round. */
type PairedFigure = (side: readonly number[], baseline: readonly number[]) => number;

export const ratioOf: PairedFigure = (side, baseline) => medianOf(side) / medianOf(baseline);
const beyondOf: PairedFigure = (side, baseline) =>
  medianOf(side.map((cost, round) => cost - (baseline[round] ?? Number.NaN)));

/**
 * The 95 % interval of a figure by percentile bootstrap. Rounds are resampled, not samples: both sides of a round ran
 * under the same machine conditions, and stay paired.
 */
export function pairedInterval(
  side: readonly number[],
  baseline: readonly number[],
  random: Random,
  figureOf: PairedFigure,
): { low: number; high: number } {
  if (side.length !== baseline.length) throw new RangeError('both sides need a sample from every round');
  const drawn = Array.from({ length: RESAMPLES }, () => {
    const rounds = side.map(() => Math.floor(random() * side.length));
    const draw = (samples: readonly number[]) => rounds.map((round) => samples[round] ?? Number.NaN);
    return figureOf(draw(side), draw(baseline));
  }).toSorted((a, b) => a - b);
  return { low: percentile(drawn, TAILS.low), high: percentile(drawn, TAILS.high) };
}

/** Runs the plan. An error of any side ends it: a comparison with missing rounds is invalid. */
export async function measure(plan: Plan): Promise<Measurement> {
  const random = seededRandom(plan.seed);
  const samples = new Map<Side, number[]>(plan.sides.map((side) => [side, []]));
  const total = plan.warmUpRounds + plan.rounds;
  for (let done = 0; done < total; done += 1) {
    for (const side of shuffled(plan.sides, random)) {
      const cost = await side.run(done);
      if (done >= plan.warmUpRounds) samples.get(side)?.push(cost);
    }
    plan.onRound?.(done + 1, total);
  }

  const [baseline, ...others] = plan.sides;
  const of = (side: Side) => samples.get(side) ?? [];
  const compared = (side: Side, figureOf: PairedFigure, atMost: number | null = null) => ({
    side: side.name,
    baseline: baseline.name,
    ...pairedInterval(of(side), of(baseline), random, figureOf),
    atMost,
  });
  const ratios = others.map((side) => ({
    ratio: ratioOf(of(side), of(baseline)),
    ...compared(side, ratioOf, side.ratioAtMost),
  }));
  const beyond = others.map((side) => ({
    beyond: beyondOf(of(side), of(baseline)),
    ...compared(side, beyondOf, side.beyondAtMost),
  }));
  const { title, unit, rounds, warmUpRounds, seed } = plan;
  const sides = plan.sides.map((side) => summarise(side.name, of(side)));
  return { title, unit, rounds, warmUpRounds, seed, sides, ratios, beyond };
}

/** The same as a visible step. */
export async function measureInStep(
  title: string,
  plan: Omit<Plan, 'seed' | 'onRound'>,
): Promise<Measurement> {
  const step = beginStep(title);
  const onRound = (done: number, of: number) => step.detail(`${done} of ${of} rounds`);
  const measurement = await measure({ ...plan, seed: 1, onRound });
  step.end(true);
  return measurement;
}

const RESULTS = join(SCRATCH, 'bench');
const BYTES_PER_GIB = 2 ** 30;

/** A figure compared with a goal, or only reported, rather than compared with another side. */
export interface Fact {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

interface BenchResult {
  readonly measurements: readonly Measurement[];
  readonly facts?: readonly Fact[];
  /** Versions of what was measured besides Node, such as the browser's. */
  readonly versions?: Readonly<Record<string, string>>;
}

/** The machine that a result was measured on. */
export function describeMachine(versions: Readonly<Record<string, string>>) {
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / BYTES_PER_GIB),
    system: `${process.platform} ${release()} ${arch()}`,
    versions: { node: process.versions.node, ...versions },
  };
}

/** Three significant figures, without an exponent. */
export function formatFigure(value: number): string {
  if (value === 0) return '0';
  if (value < 0) return `-${formatFigure(-value)}`;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 6));
}

function goalText(met: boolean, goal: string): string {
  return `${goal}: ${met ? 'met' : 'MISSED'}`;
}

const ratioMeets = ({ ratio, atMost }: Ratio) => atMost === null || ratio <= atMost;
const beyondMeets = ({ beyond, atMost }: ExcessCost) => atMost === null || beyond <= atMost;
const factMeets = ({ value, atLeast = -Infinity, atMost = Infinity }: Fact) =>
  value >= atLeast && value <= atMost;

function measurementTable(measurement: Measurement): string {
  const rows = measurement.sides.map((side) => {
    const ratio = measurement.ratios.find((candidate) => candidate.side === side.name);
    const own = [side.median, side.p10, side.p90].map(formatFigure);
    const beyond = measurement.beyond.find((candidate) => candidate.side === side.name);
    if (ratio === undefined || beyond === undefined) return [side.name, ...own, 'baseline'];
    const interval = `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`;
    const more = [beyond.beyond, beyond.low, beyond.high].map(formatFigure);
    const goals = [
      ...(ratio.atMost === null ? [] : [goalText(ratioMeets(ratio), `at most ${ratio.atMost}`)]),
      ...(beyond.atMost === null
        ? []
        : [goalText(beyondMeets(beyond), `at most ${beyond.atMost} ${measurement.unit} beyond`)]),
    ];
    const ends = `${more[1]} to ${more[2]}`;
    return [side.name, ...own, ratio.ratio.toFixed(3), interval, more[0] ?? '', ends, goals.join(', ')];
  });
  const head = `${measurement.title}, ${measurement.unit}, ${measurement.rounds} rounds, seed ${measurement.seed}`;
  const spread = ['median', 'p10', 'p90'].map(figures);
  const compared = [figures('ratio'), '95 % interval', figures('beyond'), '95 % interval'];
  const columns = ['side', ...spread, ...compared, 'goal'];
  return `${head}\n${formatTable(columns, rows)}`;
}

function factTable(facts: readonly Fact[]): string {
  const rows = facts.map((fact) => {
    const goals: string[] = [];
    if (fact.atLeast !== undefined) goals.push(`at least ${fact.atLeast}`);
    if (fact.atMost !== undefined) goals.push(`at most ${fact.atMost}`);
    const goal = goals.length === 0 ? '' : goalText(factMeets(fact), goals.join(', '));
    return [fact.name, formatFigure(fact.value), fact.unit, goal];
  });
  return rows.length === 0 ? '' : formatTable(['figure', figures('value'), 'unit', 'goal'], rows);
}

/** The text printed by `publish`. */
export function formatResult(result: BenchResult): string {
  const { cpu, cores, memoryGiB, system, versions } = describeMachine(result.versions ?? {});
  const spoken = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const machine = `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}; ${spoken.join(', ')}`;
  const tables = result.measurements.map(measurementTable);
  return [machine, ...tables, factTable(result.facts ?? [])].filter((part) => part !== '').join('\n\n');
}

/** Whether every goal in the result is met. */
export function goalsMet(result: BenchResult): boolean {
  const met = result.measurements.every(
    ({ ratios, beyond }) => ratios.every(ratioMeets) && beyond.every(beyondMeets),
  );
  return met && (result.facts ?? []).every(factMeets);
}

/**
 * Prints the result and writes `.photofinish/bench/NAME.json`. Sets the process's exit code to 1 if a goal was missed.
 */
export function publish(name: string, result: BenchResult): void {
  const file = join(RESULTS, `${name}.json`);
  const machine = describeMachine(result.versions ?? {});
  const { measurements, facts = [] } = result;
  const createdAt = new Date().toISOString();
  const document = { schema: 'photofinish.bench/1', name, createdAt, machine, measurements, facts };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(file, `${JSON.stringify(document, null, 1)}\n`);
  process.stdout.write(`${formatResult(result)}\n\n${relative(TOP, file)}\n`);
  if (!goalsMet(result)) process.exitCode = 1;
}

/** Of a page in which `watchFrames` has run. */
export interface WatchedFrames {
  /** Resolves with the time, in milliseconds since the start of the navigation, once the next frame is painted. */
  paintedFrame?(): Promise<number>;
}

/** Runs in a page before its scripts. */
export function watchFrames(): void {
  (globalThis as WatchedFrames).paintedFrame = () =>
    new Promise((resolve) => {
      // A message posted in an animation frame callback arrives after that frame is painted.
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => resolve(performance.now());
        port2.postMessage(null);
      });
    });
}

/**
 * Writes an extension that does nothing, to measure the cost of having any, to a new directory below `dir`, with
 * additional manifest keys and files by name; returns the directory.
 */
export async function emptyExtension(
  dir: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const extension = join(dir, 'empty');
  await mkdir(extension);
  const whole = { manifest_version: 3, name: 'Empty', version: '1', ...manifest };
  await writeFile(join(extension, 'manifest.json'), JSON.stringify(whole));
  for (const [name, text] of Object.entries(files)) await writeFile(join(extension, name), text);
  return extension;
}
