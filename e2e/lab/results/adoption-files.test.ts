// What a run leaves behind holds the same figures everywhere, and a page that runs nothing, loads nothing and lets no
// client's words become markup.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adoptionPage, type Machine } from './adoption-page.ts';
import { signsOf } from './adoption-plots.ts';
import { cellsCsv, trialsCsv } from './csv-files.ts';
import { derive } from './figures.ts';
import { adoptionGoals } from './goals.ts';
import { adoptionDocument } from './json-file.ts';
import { signMarkup } from './plots/drawing.ts';
import { adoptionText } from './publish.ts';
import { syntheticRun } from './synthetic.fixture.ts';
import { formatResultTable, paperTables } from './tables.ts';

const RUN = syntheticRun({ trials: 60 });
const DERIVED = derive(RUN);
const GOALS = adoptionGoals(DERIVED);
const MACHINE: Machine = {
  cpu: 'a <cpu>',
  cores: 2,
  memoryGiB: 8,
  system: 'linux',
  versions: { node: '24' },
};
const [DELAY_50] = RUN.cells.filter(({ cell }) => cell.id === 'delay-50');
const PAGE = adoptionPage(DERIVED, GOALS, MACHINE);

const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

describe("the paper's tables", () => {
  const [race, altSvc, raceByLoss, altSvcByLoss] = paperTables(DERIVED);

  test("have the paper's row first in every cell, and a dash where it has none", () => {
    const papers = altSvcByLoss?.rows.filter(({ kind }) => kind === 'paper') ?? [];
    assert.equal(papers.length, 5);
    assert.equal(papers[3]?.cells[5], '374.0');
    assert.ok(papers[4]?.cells.slice(1).every((cell) => cell === '–'));
  });

  test('have everyone in every cell, browsers in both kinds', () => {
    const clients = (rows: readonly { readonly client?: string }[] = []) =>
      rows.slice(0, rows.length / 5).map(({ client }) => client);
    const browsers = ['chromium-first', 'firefox-second'];
    assert.deepEqual(clients(race?.rows), ['paper', 'race', 'race-known', 'go-race', 'curl', ...browsers]);
    assert.deepEqual(clients(altSvc?.rows), ['paper', 'alt-svc', 'go-alt-svc', ...browsers]);
  });

  test('name the cell in its first row only, and hold what was measured', () => {
    const text = formatResultTable(race ?? assert.fail());
    assert.equal(count(text, /^50 ms/gm), 1);
    const mean = DELAY_50 && DERIVED.find(DELAY_50.cell, 'race')?.established?.mean.value;
    assert.ok(text.includes(mean?.toFixed(1) ?? '?'));
  });

  test('have a dash for whoever was not measured in a cell', () => {
    const [first, ...others] = RUN.cells;
    assert.ok(first);
    const { curl: _, ...trials } = first.trials;
    const [table] = paperTables(derive({ ...RUN, cells: [{ ...first, trials }, ...others] }));
    const row = table?.rows.find(({ client }) => client === 'curl');
    assert.deepEqual(row?.cells, ['curl', ...Array.from({ length: 11 }, () => '–')]);
  });

  test('do without a sweep that was not measured', () => {
    const only = RUN.cells.filter(({ cell }) => cell.id === 'delay-50');
    assert.equal(paperTables(derive({ ...RUN, cells: only }))[2]?.rows.length, 0);
    assert.equal(raceByLoss?.rows.length, 35);
  });
});

test('the terminal names absent clients with the reason', () => {
  assert.match(adoptionText(DERIVED, GOALS), /Firefox, first visit: no Firefox was found/);
});

describe('the files', () => {
  test('trials.csv has every trial', () => {
    const trials = RUN.cells.flatMap((result) => Object.values(result.trials)).flat();
    assert.equal(trialsCsv(RUN).trimEnd().split('\r\n').length, trials.length + 1);
  });

  test('cells.csv has a row for each cell and contestant, as long as its head', () => {
    const [head = '', ...rows] = cellsCsv(DERIVED).trimEnd().split('\r\n');
    assert.equal(rows.length, DERIVED.all.length);
    for (const row of rows) assert.equal(row.split(',').length, head.split(',').length);
  });

  test('the document holds run and figures, and no number that JSON does not know', () => {
    const document = JSON.parse(adoptionDocument(DERIVED, GOALS));
    assert.equal(document.schema, 'photofinish.lab-adoption/1');
    assert.deepEqual(document.run, JSON.parse(JSON.stringify(RUN)));
    assert.equal(document.figures.length, DERIVED.all.length);
    assert.equal(document.goals.length, GOALS.length);
    const unlimited = GOALS.findIndex(({ measured }) => measured?.high === Infinity);
    assert.equal(document.goals[unlimited]?.measured.high, null);
  });
});

describe('the page', () => {
  test('needs no script and nothing from elsewhere', () => {
    assert.equal(count(PAGE, /<script|<link|<img|@import|url\(|\son[a-z]+=|javascript:/g), 0);
    assert.match(PAGE, /Content-Security-Policy" content="default-src 'none'/);
    assert.equal(count(PAGE, /\bhref="(?!#table-\d")/g), 0);
  });

  test('has every id once, and a table behind every link to one', () => {
    const ids = [...PAGE.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted());
    for (const [, id] of PAGE.matchAll(/href="#([^"]+)"/g)) assert.ok(ids.includes(id), id);
  });

  test('names and describes every drawing, one distribution for each cell', () => {
    assert.equal(count(PAGE, /<svg [^>]*role="img" aria-labelledby/g), RUN.cells.length + 3);
    assert.ok(!PAGE.includes('NaN') && !PAGE.includes('Infinity') && !PAGE.includes('undefined'));
  });

  test('tells clients apart without colour', () => {
    const signs = [...signsOf(DERIVED).values()];
    assert.equal(
      new Set(signs.map((sign) => signMarkup(sign).replaceAll(/var\([^)]*\)/g, ''))).size,
      signs.length,
    );
  });

  test('keeps words of clients and machines as words', () => {
    const contestants = RUN.contestants.map((each) =>
      each.name === 'curl' ? { ...each, title: '<b>curl</b>' } : each,
    );
    const crashed = { quinn: '<script>alert(1)</script>', race: 'killed' };
    const cells = RUN.cells.map((result) => ({ ...result, crashed }));
    const page = adoptionPage(derive({ ...RUN, contestants, cells }), GOALS, MACHINE);
    assert.ok(!page.includes('<b>curl') && !page.includes('<script') && !page.includes('<cpu>'));
    assert.ok(page.includes('&lt;b&gt;curl') && page.includes('race, first contact (broke off)'));
  });

  test('can be made of one trial, and of none', () => {
    const one = {
      ...RUN,
      cells: RUN.cells.map((result) => ({
        ...result,
        link: [],
        trials: { race: Object.values(result.trials)[0]?.slice(0, 1) ?? [] },
      })),
    };
    const none = { ...RUN, cells: RUN.cells.map((result) => ({ ...result, link: [], trials: {} })) };
    for (const run of [one, none, { ...RUN, cells: [] }]) {
      const derived = derive(run);
      const page = adoptionPage(derived, adoptionGoals(derived), MACHINE);
      assert.ok(page.endsWith('</html>\n') && !page.includes('NaN') && !page.includes('Infinity'));
    }
  });
});
