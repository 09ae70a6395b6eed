// What a record leaves out because a server or resolver sent too much of it, in words.
import type { OriginRace } from '@photofinish/shared/outcome';

/** One sentence, or none where the record is whole. */
export function leftOutWords({ leftOut }: Pick<OriginRace, 'leftOut'>): string[] {
  if (leftOut === undefined) return [];
  const { addresses, services, lookups, attempts } = leftOut;
  const parts = [
    [addresses, 'address', 'addresses'],
    [services, 'HTTPS record', 'HTTPS records'],
    [lookups, 'DNS query', 'DNS queries'],
    [attempts, 'attempt', 'attempts'],
  ] as const;
  const said = parts.flatMap(([count, one, many]) =>
    count === 0 ? [] : [`${count} ${count === 1 ? one : many}`],
  );
  return [`Left out, because there were too many: ${said.join(', ')}.`];
}
