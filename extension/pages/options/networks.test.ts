import 'fake-indexeddb/auto';
import '../../testing/catalogs.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { openLedger } from '../../ledger/ledger.ts';
import { emptyTotal } from '../../ledger/row-changes.ts';
import { knownNetworks, nameFromEntry, rereadNetworks } from './networks.ts';

const day = (name: string, network: string, h3: number) => ({
  day: name,
  network,
  counts: { ...NO_REQUESTS, h3, unknown: 1 },
});

test('the current network comes first, then the most recently used; what is no network is not listed', () => {
  const totals = [
    day('2026-11-01', 'net-old', 2),
    day('2026-11-20', 'net-work', 3),
    day('2026-11-21', 'net-work', 4),
    day('2026-11-21', 'unknown', 9),
  ];
  assert.deepEqual(knownNetworks(totals, new Map([['net-named', 'Hotel']]), 'net-now'), [
    { network: 'net-now', seen: null, now: true },
    { network: 'net-work', seen: { day: '2026-11-21', requests: 9 }, now: false },
    { network: 'net-old', seen: { day: '2026-11-01', requests: 3 }, now: false },
    { network: 'net-named', seen: null, now: false },
  ]);
  assert.deepEqual(knownNetworks([], new Map(), 'offline'), []);
});

test('an empty field removes the name; what cannot be read is no name', () => {
  assert.equal(nameFromEntry('  '), null);
  assert.equal(nameFromEntry(' Home '), 'Home');
  assert.equal(nameFromEntry('x'.repeat(41)), undefined);
});

/** As much of an element as the list of networks uses. */
class Part {
  hidden = false;
  textContent = '';
  children: readonly unknown[] = [];
  append(): void {}
  setAttribute(): void {}
  getAttribute(): null {
    return null;
  }
  addEventListener(): void {}
  replaceChildren(...children: readonly unknown[]): void {
    this.children = children;
  }
}

test('networks of what was recorded are listed no longer once it is deleted, and again once it is imported', async (t) => {
  const parts = new Map<string, Part>();
  const getElementById = (id: string): Part => {
    const part = parts.get(id) ?? new Part();
    parts.set(id, part);
    return part;
  };
  const page = { activeElement: null, getElementById, createElement: () => new Part() };
  const globals = { document: page, HTMLElement: Part, chrome: { extension: { inIncognitoContext: false } } };
  Object.assign(globalThis, globals);
  t.after(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name);
  });
  const ledger = openLedger();
  const listed = async () => {
    await rereadNetworks();
    return parts.get('networks-list')?.children.length;
  };
  const totals = ['net-home', 'net-work'].map((network) => emptyTotal('2026-11-21', network));
  await ledger.merge('totals', totals);
  assert.equal(await listed(), 2);
  await ledger.wipe();
  assert.equal(await listed(), 0);
  assert.equal(parts.get('networks-none')?.hidden, false);
  await ledger.merge('totals', totals);
  assert.equal(await listed(), 2);
});
