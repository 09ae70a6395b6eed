// What deciding costs without any I/O: a simple race, 128 endpoints with and without the DNS answers they
// come from, and how the cost grows with their number. For comparison, Mozilla's engine in Rust: 1.5 us for a simple
// race, 1709 us for 128.
import { join } from 'node:path';
import { runOrThrow } from '../child-process.ts';
import { beginStep } from '../run/display.ts';
import { TOP } from '../scratch.ts';
import { type Fact, measureInStep, medianOf, publish, type Side } from './measure.ts';

/** Runs a scenario in its own process: `node decide.bench.ts SCENARIO ENDPOINTS` prints microseconds. */
const SCENARIOS = join(TOP, 'native-host/race/decide.bench.ts');
const RUNS = 7;
const SIZES = [16, 32, 64, 128, 256, 512, 1024] as const;

async function microseconds(scenario: string, endpoints: number): Promise<number> {
  const stdout = await runOrThrow(process.execPath, [SCENARIOS, scenario, String(endpoints)]);
  const value = Number(stdout);
  if (!(value > 0)) throw new Error(`no figure but "${stdout}"`);
  return value;
}

async function figure(scenario: string, endpoints: number): Promise<number> {
  const values: number[] = [];
  for (let i = 0; i < RUNS; i += 1) values.push(await microseconds(scenario, endpoints));
  return medianOf(values);
}

const nLogN = (n: number): number => n * Math.log2(n);

function sized(endpoints: number): Side {
  const [smallest] = SIZES;
  const ratioAtMost = nLogN(endpoints) / nLogN(smallest);
  return {
    name: `${endpoints} endpoints`,
    run: () => microseconds('endpoints', endpoints),
    ...(endpoints !== smallest && { ratioAtMost }),
  };
}

async function growth() {
  const [smallest, ...larger] = SIZES;
  return measureInStep('Growth with the number of endpoints', {
    title: 'From the list to the adopted attempt; the goal of each ratio is n log n',
    unit: 'us',
    sides: [sized(smallest), ...larger.map(sized)],
    rounds: RUNS,
    warmUpRounds: 1,
  });
}

async function facts(): Promise<Fact[]> {
  const step = beginStep('Single decisions');
  const measured: Fact[] = [
    { name: 'simple race', value: await figure('simple', 4), unit: 'us', atMost: 10 },
    {
      name: '128 endpoints, list to adopted',
      value: await figure('endpoints', 128),
      unit: 'us',
      atMost: 1000,
    },
    {
      name: 'DNS answers that name 128 endpoints, to adopted',
      value: await figure('answers', 128),
      unit: 'us',
      atMost: 1000,
    },
  ];
  step.end(true);
  return measured;
}

publish('decide', { facts: await facts(), measurements: [await growth()] });
