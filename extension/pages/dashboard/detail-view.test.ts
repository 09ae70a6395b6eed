// The detail of an open row follows the ledger and the period, and keeps what has not changed.
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import type { Origin } from '@photofinish/shared/web/origin';
import { emptyDay, emptyRecord } from '../../common/records/fold.ts';
import { aRace } from '../../testing/samples.ts';
import { originDetail } from './detail-view.ts';

const ORIGIN = 'https://a.test' as Origin;
const SITE = 'a.test';
const TODAY = '2026-11-21';
const TODAY_MS = Date.parse(TODAY);

/** As much of an element as a detail consists of. */
class Part {
  className = '';
  hidden = false;
  max = '';
  readonly style = {};
  parentElement: Part | null = null;
  #children: (Part | string)[] = [];
  append(...parts: (Part | string)[]): void {
    for (const part of parts) if (part instanceof Part) part.parentElement = this;
    this.#children.push(...parts);
  }
  replaceChildren(...parts: (Part | string)[]): void {
    for (const part of this.#children) if (part instanceof Part) part.parentElement = null;
    this.#children = [];
    this.append(...parts);
  }
  get textContent(): string {
    return this.#children.map((part) => (part instanceof Part ? part.textContent : part)).join(' ');
  }
  set textContent(text: string) {
    this.replaceChildren(text);
  }
  get all(): Part[] {
    return [this, ...this.#children.flatMap((part) => (part instanceof Part ? part.all : []))];
  }
  readonly addEventListener = (): void => {};
  readonly getAttribute = (): null => null;
  readonly setAttribute = (): void => {};
}

/** A page for one test; all files share one process. */
function openPage(t: TestContext): void {
  const parsed = { documentElement: { nodeName: 'svg' } };
  const globals = {
    document: { createElement: () => new Part(), importNode: () => new Part() },
    DOMParser: class {
      readonly parseFromString = () => parsed;
    },
    ResizeObserver: class {
      readonly observe = (): void => {};
    },
  };
  Object.assign(globalThis, globals);
  t.after(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name);
  });
}

function openDetail(t: TestContext) {
  openPage(t);
  const record = { ...emptyRecord(ORIGIN, SITE, TODAY_MS), address: '192.0.2.1' };
  const kept = {
    record: record as typeof record | null,
    answers: Promise.resolve(),
    races: [] as ReturnType<typeof aRace>[],
    period: { fromDay: '2026-11-20', toDay: TODAY },
  };
  const day = { ...emptyDay(TODAY, SITE, ORIGIN, 'home'), counts: { ...NO_REQUESTS, h3: 3 } };
  const ledger = {
    async recordsOf() {
      const { record, answers } = kept;
      await answers;
      return new Map(record === null ? [] : [[ORIGIN, record] as const]);
    },
    races: async () => kept.races,
    daysOf: async () => [day],
  };
  const { element, refresh } = originDetail(ledger, ORIGIN, SITE, () => kept.period);
  const detail = element as unknown as Part;
  const refreshed = async (): Promise<string> => {
    refresh();
    await settled();
    return detail.textContent;
  };
  const only = (name: string): Part => {
    const [found, ...more] = detail.all.filter(({ className }) => className === name);
    assert.ok(found !== undefined && more.length === 0, name);
    return found;
  };
  return { kept, record, detail, refreshed, only };
}

test('an open row shows a later race, address and deletion', async (t) => {
  const { kept, record, refreshed } = openDetail(t);
  const opened = await refreshed();
  assert.match(opened, /Not raced yet/);
  assert.match(opened, /192\.0\.2\.1/);

  kept.races = [aRace()];
  kept.record = { ...record, address: '192.0.2.2' };
  const raced = await refreshed();
  assert.doesNotMatch(raced, /Not raced yet|192\.0\.2\.1/);
  assert.match(raced, /192\.0\.2\.2/);

  kept.record = null;
  assert.doesNotMatch(await refreshed(), /192\.0\.2/);
  kept.record = record;
  assert.match(await refreshed(), /192\.0\.2\.1/);
});

test('an open row’s timeline covers the period chosen last', async (t) => {
  const { kept, refreshed, only } = openDetail(t);
  await refreshed();
  assert.equal(only('scrub').max, '1');
  kept.period = { fromDay: '2026-11-15', toDay: TODAY };
  await refreshed();
  assert.equal(only('scrub').max, '6');
});

test('a visit redraws neither the timeline’s controls nor races that are being read', async (t) => {
  const { kept, record, refreshed, only } = openDetail(t);
  kept.races = [aRace()];
  await refreshed();
  const controls = [only('scrub'), only('race'), only('means')];
  kept.record = { ...record, lastSeenMs: TODAY_MS + 1 };
  await refreshed();
  assert.deepEqual(
    [only('scrub'), only('race'), only('means')].map((part, i) => part === controls[i]),
    [true, true, true],
  );
});

test('an earlier reading that ends later is ignored', async (t) => {
  const { kept, record, detail, refreshed } = openDetail(t);
  const late = Promise.withResolvers<void>();
  kept.answers = late.promise;
  await refreshed();
  kept.answers = Promise.resolve();
  kept.record = { ...record, address: '192.0.2.2' };
  await refreshed();
  late.resolve();
  await settled();
  assert.match(detail.textContent, /192\.0\.2\.2/);
});
