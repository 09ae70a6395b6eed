// What a run of `adoption` has to show, judged: against the paper's figures, and against the paper's code as it was
// measured in the same minutes.
import { seededRandom } from '@photofinish/shared/seeded-random.fixture';
import type { Cell } from '../adoption/run.ts';
import { DEADLINE_MS, type TimeKey, timesOf } from '../trial.ts';
import { type Derived, delayCells, type Figures, lossCells, missesOf } from './figures.ts';
import { type Bound, formatNumber, type GoalClaim, type GoalRow, judgeGoal } from './goal-row.ts';
import { ratioOfMeans, ratioOfShares, ruleOfThree, scaled } from './intervals.ts';
import { PAPER_ALT_SVC, PAPER_RACE, paperAdopted, paperRow } from './paper.ts';

/** As many as P2 made in each cell; goals are judged on no fewer. */
const JUDGED_TRIALS = 1000;
const MOST_MISSES_IN_1000 = 3;
/** Over the link's round trip, until the handshake is done. */
const MOST_OVER_DELAY_MS = 2;
/** Race against Alt-Svc at this delay, where P2 came to 0.51. */
const RATIO_DELAY_MS = 200;
const MOST_RATIO = 0.505;
/** Of the Go client's misses, for a known host. */
const MOST_MISS_RATIO = 0.5;

/** Our races: first contact and, beside it, the known host. */
const RACES = ['race', 'race-known'] as const;
const GO_RACE = 'go-race';
const ALT_SVC = 'alt-svc';

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Why these figures do not suffice to judge a goal; undefined: they do. */
function tooFew({ run }: Derived, ...sides: readonly Figures[]): string | undefined {
  const least = Math.min(...sides.map(({ trials }) => trials.length));
  if (run.full && least >= JUDGED_TRIALS) return undefined;
  return least >= JUDGED_TRIALS ? 'not a --full run' : `${least} of ${JUDGED_TRIALS} trials`;
}

/**
 * Judges what was measured of these. Where one of them broke off there is a trend only: what the turn in which it did
 * would have shown is not known, and may be why.
 */
function judged(derived: Derived, claim: GoalClaim, ...sides: readonly Figures[]): GoalRow {
  const broken = sides
    .filter(({ brokeOff }) => brokeOff)
    .map(({ contestant, trials }) => `${contestant.name} broke off after ${trials.length} trials`)
    .join('; ');
  if (broken === '') return judgeGoal(claim, tooFew(derived, ...sides));
  return judgeGoal(claim.goal === null ? { ...claim, note: `${claim.note}; ${broken}` } : claim, broken);
}

/** Why a contestant has no figures in a cell. */
function whyMissing({ run }: Derived, cell: Cell, name: string): string {
  const absent = run.absent.find((each) => each.name === name);
  if (absent !== undefined) return `${absent.title}: ${absent.why}`;
  const crashed = run.cells.find((result) => result.cell.id === cell.id)?.crashed?.[name];
  return crashed === undefined ? `${name} was not measured here` : `${name} broke off: ${crashed}`;
}

function unmeasured(
  derived: Derived,
  row: Omit<GoalRow, 'measured' | 'verdict'>,
  cell: Cell,
  names: string[],
): GoalRow {
  const missing = names.filter((name) => derived.find(cell, name) === undefined);
  const note = missing.map((name) => whyMissing(derived, cell, name)).join('; ');
  return judgeGoal({ ...row, measured: null, note });
}

const label = ({ delayMs, loss }: Cell) =>
  loss > 0
    ? `loss ${formatNumber(100 * loss)} %${delayMs > 0 ? `, delay ${delayMs} ms` : ''}`
    : `delay ${delayMs} ms`;
const lossLabel = (cell: Cell) => (cell.loss === 0 ? 'loss 0 %' : label(cell));

/** The figures of whoever did not break off: those that stand beside others without a word. */
function wholeOf(derived: Derived, cell: Cell, name: string): Figures | undefined {
  const figures = derived.find(cell, name);
  return figures?.brokeOff ? undefined : figures;
}

function goMisses(derived: Derived, cell: Cell): string {
  const go = wholeOf(derived, cell, GO_RACE);
  return go === undefined ? '' : `; Go client here ${missesOf(go).hits} of ${go.adopted.of}`;
}

function adoptionByDelay(derived: Derived): GoalRow[] {
  const group = 'Misses of HTTP/3 by delay, in 1000 trials';
  const goal: Bound = { kind: 'at most', value: MOST_MISSES_IN_1000 };
  return delayCells(derived.run).flatMap((cell) =>
    RACES.map((name) => {
      const paper = paperRow(PAPER_RACE, cell);
      const paperMisses = paper && paperAdopted(paper);
      const anchor = `${paperMisses ? `P2 ${paperMisses.of - paperMisses.hits}` : ''}${goMisses(derived, cell)}`;
      const row = { group, name: `${name}, ${label(cell)}`, unit: '', goal, anchor };
      const figures = derived.find(cell, name);
      if (figures === undefined) return unmeasured(derived, row, cell, [name]);
      const misses = missesOf(figures);
      const adoption = scaled(figures.adoption, -1000, 1000);
      const measured = { value: adoption.value, low: adoption.high, high: adoption.low };
      const note =
        misses.hits === 0
          ? `none of ${misses.of}: at most ${formatNumber(1000 * ruleOfThree(misses.of))} by the rule of three`
          : `${misses.hits} of ${misses.of}, each explained below`;
      return judged(derived, { ...row, measured, note }, figures);
    }),
  );
}

/** What the other races took over the delay, by established. */
function peersOverDelay(derived: Derived, cell: Cell): string {
  const others = derived.contestants.filter(({ kind, name }) => kind === 'peer' && !name.includes(ALT_SVC));
  return others
    .flatMap(({ name }) => {
      const times = wholeOf(derived, cell, name)?.established;
      return times ? `${name} ${formatNumber(Number((times.mean.value - cell.delayMs).toFixed(2)))}` : [];
    })
    .join(', ');
}

function establishedByDelay(derived: Derived): GoalRow[] {
  const group = 'Mean time to established by delay, over the delay';
  const goal: Bound = { kind: 'at most', value: MOST_OVER_DELAY_MS };
  return delayCells(derived.run).flatMap((cell) =>
    RACES.map((name) => {
      const paper = paperRow(PAPER_RACE, cell);
      const over = paper === undefined ? '' : `P2 ${formatNumber(paper.meanMs - cell.delayMs)}`;
      const others = name === 'race' ? peersOverDelay(derived, cell) : '';
      const anchor = [over, others].filter((text) => text !== '').join('; here ');
      const row = { group, name: `${name}, ${label(cell)}`, unit: 'ms', goal, anchor };
      const figures = derived.find(cell, name);
      const times = figures?.established;
      if (figures === undefined || !times) return unmeasured(derived, row, cell, [name]);
      const note = `mean ${formatNumber(times.mean.value)}, median ${formatNumber(times.medianMs)}`;
      return judged(derived, { ...row, measured: scaled(times.mean, 1, -cell.delayMs), note }, figures);
    }),
  );
}

interface MeansCompared {
  readonly row: Omit<GoalRow, 'measured' | 'verdict'>;
  readonly cell: Cell;
  readonly names: readonly [string, string];
  readonly key: TimeKey;
}

/** The ratio of two contestants' means in one cell. */
function compareMeans(derived: Derived, { row, cell, names, key }: MeansCompared): GoalRow {
  const [first, second] = names.map((name) => derived.find(cell, name));
  if (first === undefined || second === undefined) return unmeasured(derived, row, cell, [...names]);
  const [ours, theirs] = [timesOf(first.trials, key), timesOf(second.trials, key)];
  if (ours.length === 0 || theirs.length === 0)
    return judgeGoal({ ...row, measured: null, note: 'not told by both clients' });
  const measured = ratioOfMeans(ours, theirs, seededRandom(derived.run.seed));
  const failed = first.failed + second.failed;
  const counted =
    failed === 0 ? '' : `; failed trials at ${DEADLINE_MS} ms: ${first.failed} and ${second.failed}`;
  const note = `${formatNumber(mean(ours))} ms against ${formatNumber(mean(theirs))}${counted}`;
  return judged(derived, { ...row, measured, note }, first, second);
}

function raceAgainstAltSvc(derived: Derived): GoalRow[] {
  const cell = delayCells(derived.run).find(({ delayMs }) => delayMs === RATIO_DELAY_MS);
  if (cell === undefined) return [];
  const [race, altSvc] = [paperRow(PAPER_RACE, cell), paperRow(PAPER_ALT_SVC, cell)];
  const paper = race && altSvc ? `P2 ${formatNumber(race.meanMs / altSvc.meanMs)}` : '';
  const goes = ['go-race', 'go-alt-svc'].map((name) => wholeOf(derived, cell, name)?.established?.mean.value);
  const go = goes[0] && goes[1] ? `; Go client here ${formatNumber(goes[0] / goes[1])}` : '';
  return RACES.map((name) => {
    const goal: Bound | null = name === 'race' ? { kind: 'at most', value: MOST_RATIO } : null;
    const row = {
      group: `Mean time to established, race over Alt-Svc`,
      name: `${name} over ${ALT_SVC}, ${label(cell)}`,
      unit: 'x',
      goal,
      anchor: `${paper}${go}`,
    };
    return compareMeans(derived, { row, cell, names: [name, ALT_SVC], key: 'establishedMs' });
  });
}

function adoptionByLoss(derived: Derived): GoalRow[] {
  return lossCells(derived.run).flatMap((cell) =>
    RACES.map((name) => {
      const paper = paperRow(PAPER_RACE, cell);
      const adopted = paper && paperAdopted(paper);
      const row = {
        group: "Misses of HTTP/3 by loss, over the Go client's",
        name: `${name}, ${lossLabel(cell)}`,
        unit: 'x',
        goal: name === 'race-known' ? ({ kind: 'at most', value: MOST_MISS_RATIO } as const) : null,
        anchor: adopted ? `P2 ${adopted.of - adopted.hits} of ${adopted.of}` : '',
      };
      const [ours, go] = [derived.find(cell, name), derived.find(cell, GO_RACE)];
      if (ours === undefined || go === undefined) return unmeasured(derived, row, cell, [name, GO_RACE]);
      const [own, theirs] = [missesOf(ours), missesOf(go)];
      const none = own.hits === 0 && theirs.hits === 0 ? '; without any miss there is no ratio' : '';
      const three =
        own.hits === 0
          ? `; ours at most ${formatNumber(100 * ruleOfThree(own.of))} % by the rule of three`
          : '';
      const note = `${own.hits} of ${own.of} against ${theirs.hits} of ${theirs.of}${none}${three}`;
      return judged(derived, { ...row, measured: ratioOfShares(own, theirs), note }, ours, go);
    }),
  );
}

/** Established beside established of the Go client's winner, and first byte beside its first response. */
function meansByLoss(derived: Derived): GoalRow[] {
  const sides = [
    { key: 'establishedMs', group: "Mean time to established by loss, over the Go client's" },
    { key: 'firstByteMs', group: "Mean time to first byte by loss, over the Go client's first response" },
  ] as const;
  return sides.flatMap(({ key, group }) =>
    lossCells(derived.run).flatMap((cell) =>
      RACES.map((name) => {
        const paper = key === 'establishedMs' ? paperRow(PAPER_RACE, cell) : undefined;
        const row = {
          group,
          name: `${name}, ${lossLabel(cell)}`,
          unit: 'x',
          goal: { kind: name === 'race' ? 'at most' : 'below', value: 1 } as const,
          anchor: paper === undefined ? '' : `P2 mean ${formatNumber(paper.meanMs)} ms`,
        };
        return compareMeans(derived, { row, cell, names: [name, GO_RACE], key });
      }),
    ),
  );
}

/** Every goal of the run, in the order in which they are told. */
export function adoptionGoals(derived: Derived): GoalRow[] {
  return [
    ...adoptionByDelay(derived),
    ...establishedByDelay(derived),
    ...raceAgainstAltSvc(derived),
    ...adoptionByLoss(derived),
    ...meansByLoss(derived),
  ];
}
