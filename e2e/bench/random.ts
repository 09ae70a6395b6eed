// Orders by chance that can be repeated.
import type { Random } from '@photofinish/shared/testing/seeded-random';

/** The values in an order of equal chance for all (Fisher and Yates). */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(Math.floor(random() * rest.length), 1));
  return order;
}
