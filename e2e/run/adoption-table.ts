// The guided tour's last word: per site, what each origin was reached over and what had been forecast, from the report
// that the popup exported.
import { adoptionPercent } from '@photofinish/shared/report/adoption';
import type { Report, ReportOrigin, ReportSite } from '@photofinish/shared/report/report';
import { type Origin, originParts } from '@photofinish/shared/web/origin';
import type { OriginRow } from '../browsers/popup.ts';
import { formatTable } from './table.ts';

/** Real pages pull in dozens of origins; the rest is in the report. */
const SHOWN_ORIGINS = 12;

const total = ({ protocols }: ReportOrigin) =>
  protocols.h3 + protocols.h2 + protocols['http/1.1'] + protocols.unknown;

function protocolsUsed({ protocols }: ReportOrigin): string {
  const used = (['h3', 'h2', 'http/1.1', 'unknown'] as const).filter((name) => protocols[name] > 0);
  return used.map((name) => `${name} ${protocols[name]}`).join(', ') || '–';
}

function forecastOf(row: OriginRow | undefined): string {
  if (row === undefined) return '–';
  const sign = { right: '✓ ', wrong: '✗ ' };
  return `${row.scored === null ? '' : sign[row.scored]}${row.forecast}`;
}

function adoptionLine({ site, adoption: { byRequest } }: ReportSite): string {
  const percent = adoptionPercent(byRequest);
  const share =
    percent === null ? 'share unknown' : `${percent} % HTTP/3 of ${byRequest.known} known requests`;
  return `${site}: ${share}, ${byRequest.hidden} hidden`;
}

/** Rows of the popup over the last page of each origin that was visited. */
export type PopupRows = ReadonlyMap<Origin, readonly OriginRow[]>;

/** A page belongs to the site of its own registrable domain. */
function rowsOfSite(site: string, popups: PopupRows): readonly OriginRow[] {
  const hosts = [...popups].map(([origin, rows]) => ({ host: originParts(origin).host, rows }));
  return hosts.find(({ host }) => host === site || host.endsWith(`.${site}`))?.rows ?? [];
}

/** The tables of all sites. */
export function formatAdoption(report: Report, popups: PopupRows): string {
  const columns = [
    { title: 'origin' },
    { title: 'protocol used' },
    { title: 'requests', align: 'right' },
    { title: 'forecast' },
    { title: 'verdict' },
  ] as const;
  const sections = report.sites.map((site) => {
    const rows = rowsOfSite(site.site, popups);
    const origins = site.origins.toSorted((a, b) => total(b) - total(a));
    const lines = origins.slice(0, SHOWN_ORIGINS).map((origin) => {
      const row = rows.find((candidate) => candidate.origin === origin.origin);
      const requests = String(total(origin));
      return [origin.origin, protocolsUsed(origin), requests, forecastOf(row), origin.verdict.code];
    });
    const more = origins.length - lines.length;
    const rest = more > 0 ? `\nand ${more} more in the report` : '';
    return `${adoptionLine(site)}\n${formatTable(columns, lines)}${rest}`;
  });
  return sections.join('\n\n');
}
