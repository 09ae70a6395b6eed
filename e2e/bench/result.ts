// The output of a benchmark: the machine it ran on, a table, and the same with every sample as JSON.
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { formatTable } from '../run/display.ts';
import { SCRATCH, TOP } from '../scratch.ts';
import type { ExcessCost, Measurement, Ratio } from './measure.ts';

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

export interface BenchResult {
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
    const figures = [side.median, side.p10, side.p90].map(formatFigure);
    const beyond = measurement.beyond.find((candidate) => candidate.side === side.name);
    if (ratio === undefined || beyond === undefined) return [side.name, ...figures, 'baseline'];
    const interval = `${ratio.low.toFixed(3)} to ${ratio.high.toFixed(3)}`;
    const more = [beyond.beyond, beyond.low, beyond.high].map(formatFigure);
    const goals = [
      ...(ratio.atMost === null ? [] : [goalText(ratioMeets(ratio), `at most ${ratio.atMost}`)]),
      ...(beyond.atMost === null
        ? []
        : [goalText(beyondMeets(beyond), `at most ${beyond.atMost} ${measurement.unit} beyond`)]),
    ];
    const ends = `${more[1]} to ${more[2]}`;
    return [side.name, ...figures, ratio.ratio.toFixed(3), interval, more[0] ?? '', ends, goals.join(', ')];
  });
  const head = `${measurement.title}, ${measurement.unit}, ${measurement.rounds} rounds, seed ${measurement.seed}`;
  const columns = [
    { title: 'side' },
    { title: 'median', align: 'right' },
    { title: 'p10', align: 'right' },
    { title: 'p90', align: 'right' },
    { title: 'ratio', align: 'right' },
    { title: '95 % interval' },
    { title: 'beyond', align: 'right' },
    { title: '95 % interval' },
    { title: 'goal' },
  ] as const;
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
  const columns = [
    { title: 'figure' },
    { title: 'value', align: 'right' },
    { title: 'unit' },
    { title: 'goal' },
  ] as const;
  return rows.length === 0 ? '' : formatTable(columns, rows);
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
