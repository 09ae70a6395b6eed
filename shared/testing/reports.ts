// Reports of every kind for property tests: any counts, verdicts, sites, networks and races; and one of version 1. And
// Markdown as readers see it.
import fc from 'fast-check';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { VERDICT_CODES } from '../race/verdict-schema.ts';
import type { Report, ReportOrigin, ReportSite } from '../report/report.ts';
import { OBSERVATION_MODES } from '../web/observation.ts';
import type { Origin } from '../web/origin.ts';
import { comparison, verdictSaying } from './race-samples.ts';
import report1 from './report-1.json' with { type: 'json' };

const count = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 }));
const counts = fc.record({ h3: count, h2: count, 'http/1.1': count, unknown: count });
const gains = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 })), {
  minLength: 1,
  maxLength: 5,
});
const race = fc.record({ gains, network: fc.constantFrom('home', 'work'), atMs: fc.nat() }).map((drawn) => ({
  ...comparison(
    drawn.gains.map(([h3]) => h3),
    drawn.gains.map(([, h2]) => h2),
  ),
  network: drawn.network,
  atMs: drawn.atMs,
}));

const origin: fc.Arbitrary<ReportOrigin> = fc
  .record({
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    protocols: counts,
    code: fc.constantFrom(...VERDICT_CODES),
    text: fc.string(),
    races: fc.array(race, { maxLength: 2 }),
    modes: fc.option(fc.subarray([...OBSERVATION_MODES])),
  })
  .map(({ name, protocols, code, text, races, modes }) => ({
    origin: `https://${name}.test` as Origin,
    protocols,
    bytes: 0,
    hidden: protocols.unknown,
    ...(modes && { modes }),
    verdict: verdictSaying(code, text),
    races,
  }));

const adoption = fc.record({ h3: count, known: count, hidden: count });
const site: fc.Arbitrary<ReportSite> = fc.record({
  site: fc.constantFrom('one.test', 'two.test', 'three.test'),
  origins: fc.uniqueArray(origin, { selector: (each) => each.origin, maxLength: 4 }),
  adoption: fc.record({ byRequest: adoption, byOrigin: adoption, byNavigation: adoption }),
  hidden: count,
  hitRatio: fc.record({ hits: count, of: count }),
  accuracy: fc.record({ hits: count, of: count }),
});

const day = fc.integer({ min: 1, max: 28 }).map((n) => `2026-01-${String(n).padStart(2, '0')}T00:00:00.000Z`);

/** Any report whose period is in January 2026. */
export const anyReport: fc.Arbitrary<Report> = fc
  .record({
    createdAt: day,
    days: fc.tuple(day, day),
    browser: fc.record({
      name: fc.constantFrom('chromium' as const, 'firefox' as const),
      version: fc.constantFrom('1', '2'),
    }),
    network: fc.constantFrom('home', 'work'),
    sites: fc.uniqueArray(site, { selector: (each) => each.site, maxLength: 3 }),
  })
  .map(({ days, ...report }) => {
    const [from, to] = days.toSorted() as [string, string];
    return structuredClone({ ...report, schema: 'photofinish.report/2' as const, period: { from, to } });
  });

/** A report of version 1, written by the last program of that version: its verdicts, and those of its races, are text. */
export const REPORT_1 = report1;

/** The HTML that GitHub's dialect of Markdown becomes, with nothing taken out of it for safety. */
export function renderedMarkdown(markdown: string): string {
  return micromark(markdown, {
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
  });
}
