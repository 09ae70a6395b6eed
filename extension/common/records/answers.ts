// Whether an origin answered, and from where if not over the network: one rule for a page, a record and a day.
import { adoptionByRequest } from '@photofinish/shared/report/adoption';
import { DELIVERIES, type Delivery } from '@photofinish/shared/web/protocol';
import type { OriginRecord } from './schema.ts';

type Answers = Pick<OriginRecord, 'counts' | 'delivered'>;

function overNetwork({ counts }: Answers): number {
  const { known, hidden } = adoptionByRequest(counts);
  return known + hidden;
}

/** Whether anything answered, from wherever. */
export function hasAnswers(answers: Answers): boolean {
  return Object.values(answers.delivered).reduce((sum, n) => sum + n, overNetwork(answers)) > 0;
}

/** Where an origin's answers came from if none came over the network. */
export function elsewhereOf(answers: Answers): Exclude<Delivery, 'network'> | null {
  if (overNetwork(answers) > 0) return null;
  return DELIVERIES.filter((d) => d !== 'network').find((d) => answers.delivered[d] > 0) ?? null;
}
