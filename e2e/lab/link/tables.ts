// The accuracy of a link as tables for people.
import { type Column, formatTable } from '../../run/table.ts';
import type { CpuRow, DelayRow, LossRow, RateRow, RoundTripRow, Spread } from './measure.ts';

const right = (title: string): Column => ({ title, align: 'right' });
const way = (direction: DelayRow['direction']) =>
  direction === 'up' ? 'client to server' : 'server to client';
const figures = ({ median, p99, max }: Spread, digits: number) =>
  [median, p99, max].map((value) => value.toFixed(digits));
const percent = (share: number) => (share * 100).toFixed(2);
const NONE = '–';

/** Milliseconds above what was asked. */
export function delayTable(rows: readonly DelayRow[]): string {
  const ms = ({ median, p99, max }: Spread) =>
    figures({ median: median / 1000, p99: p99 / 1000, max: max / 1000 }, 3);
  const columns = [
    { title: 'direction' },
    right('delay asked, ms'),
    right('packets'),
    right('shortest stay, ms'),
    ...['link late: median', 'p99', 'max', 'from outside: median', 'p99', 'max'].map(right),
  ];
  return formatTable(
    columns,
    rows.map((row) => [
      way(row.direction),
      String(row.askedMs),
      String(row.packets),
      row.shortestUs === null ? NONE : (row.shortestUs / 1000).toFixed(3),
      ...(row.lateUs === null ? [NONE, NONE, NONE] : ms(row.lateUs)),
      ...ms(row.outsideUs),
    ]),
  );
}

export function lossTable(rows: readonly LossRow[]): string {
  const columns = [
    { title: 'direction' },
    { title: 'losses' },
    right('asked, %'),
    right('sent'),
    right('got, %'),
    right('95 % interval'),
    right('burst asked'),
    right('got'),
    right('missing'),
  ];
  return formatTable(
    columns,
    rows.map((row) => [
      way(row.direction),
      row.asked.kind === 'independent' ? 'independent' : 'in bursts',
      percent(row.askedShare),
      String(row.sent),
      percent(row.got.value),
      `${percent(row.got.low)} to ${percent(row.got.high)}`,
      row.burst?.asked.toFixed(2) ?? NONE,
      row.burst?.got?.toFixed(2) ?? NONE,
      String(row.missing),
    ]),
  );
}

export function rateTable(rows: readonly RateRow[]): string {
  const columns = [{ title: 'direction' }, right('rate asked, Mbit/s'), right('got')];
  return formatTable(
    columns,
    rows.map((row) => [way(row.direction), String(row.askedMbps), row.gotMbps.toFixed(3)]),
  );
}

/** Without the link as well: what sockets and processes alone take. */
export function roundTripTable(rows: readonly RoundTripRow[], bare: readonly RoundTripRow[]): string {
  const columns = [
    { title: 'round trip by' },
    right('asked, ms'),
    ...['median', 'p99', 'max', 'median above asked', 'and above a bare cable'].map(right),
  ];
  return formatTable(
    columns,
    rows.map(({ by, askedMs, tookMs }) => {
      const above = tookMs.median - askedMs;
      const cable = bare.find((row) => row.by === by);
      return [
        by,
        String(askedMs),
        ...figures(tookMs, 3),
        above.toFixed(3),
        cable === undefined ? NONE : (above - cable.tookMs.median).toFixed(3),
      ];
    }),
  );
}

export function cpuTable(rows: readonly CpuRow[]): string {
  return formatTable(
    [right('packets a second'), right('of a core, %')],
    rows.map(({ packetsPerSecond, share }) => [String(packetsPerSecond), (share * 100).toFixed(1)]),
  );
}
