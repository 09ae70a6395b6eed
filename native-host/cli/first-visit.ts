// What a client implementing Happy Eyeballs v3 does on its first visit, and why: from the record that it had and its
// own attempts.

import { isOurDoing, soundTrials } from '@photofinish/shared/race/conclusive';
import {
  type DnsResults,
  hostOfHttpsName,
  ownRecords,
  type ServiceRecord,
} from '@photofinish/shared/race/discovered';
import type { Attempt, OriginRace, Trial } from '@photofinish/shared/race/outcome';
import { isRecordNotQueried, isRecordUnanswered } from '@photofinish/shared/verdict/advertised';
import { attemptErrorText } from '@photofinish/shared/verdict/codes';
import { isH3 } from '@photofinish/shared/verdict/evidence';
import type { Explanation } from '@photofinish/shared/verdict/explanation';
import { type OriginParts, originParts } from '@photofinish/shared/web/origin';
import { PROTOCOL_NAMES } from '@photofinish/shared/web/protocol';
import { milliseconds } from './text.ts';

type Names = Explanation['names'];

const ADVERTISED = 'an HTTPS record advertises HTTP/3, but';
const TOO_LATE = 'its HTTPS record, which advertises HTTP/3, arrived too late';

/** Whether the answer with the record took longer than the trial took to establish another protocol. */
function isLate({ establishedMs }: Trial, { owner }: ServiceRecord, { lookups }: DnsResults): boolean {
  const query = lookups.find(({ name, kind }) => kind === 'HTTPS' && name === owner);
  return query !== undefined && establishedMs !== null && query.tookMs >= establishedMs;
}

/** Why HTTP/3 was not attempted although a record advertises it. */
function whyNotStarted(trial: Trial, record: ServiceRecord, names: DnsResults): string {
  if (isLate(trial, record, names)) return TOO_LATE;
  const host = hostOfHttpsName(record.target);
  return names.addresses.some((address) => address.host === host)
    ? `${ADVERTISED} that was not started before another protocol was established`
    : `${ADVERTISED} no address of its target ${record.target} was known before another protocol was established`;
}

/** Why HTTP/3 advertised by an HTTPS record was not used, as the end of a sentence. */
function whyNotFirst(trial: Trial, record: ServiceRecord, names: DnsResults): string {
  const { attempts } = trial;
  const h3 = attempts.filter(isH3);
  const [first] = h3;
  const other = attempts.find((attempt) => !isH3(attempt));
  if (first === undefined) return whyNotStarted(trial, record, names);
  const error = h3.findLast(({ outcome }) => outcome === 'failed')?.error;
  if (error !== undefined) return `${ADVERTISED} that failed (${attemptErrorText(error.code)})`;
  const laterMs = other === undefined ? 0 : first.startedMs - other.startedMs;
  return laterMs > 0
    ? `${ADVERTISED} that was started ${milliseconds(laterMs)} later, when the record or the addresses of ${record.target} had arrived`
    : `${ADVERTISED} its handshake took longer`;
}

/** Whether HTTP/3 was established and then failed. */
function answersNothing({ trials }: OriginRace): boolean {
  return trials.some(({ attempts }) =>
    attempts.some((each) => isH3(each) && each.establishedMs !== null && each.outcome === 'failed'),
  );
}

/** What is known of HTTPS records, of which none that can be used here advertises HTTP/3. */
function withoutRecord(names: Names, origin: OriginParts): string {
  if (names === null) return 'no HTTPS record was queried';
  const { services } = ownRecords(names, origin);
  if (services.some(({ incompatible, alpn }) => incompatible && alpn.includes('h3')))
    return 'the HTTPS record that lists h3 cannot be used here';
  if (isRecordNotQueried(names, origin)) return 'no HTTPS record was queried';
  return isRecordUnanswered(names, origin)
    ? 'DNS has not answered whether an HTTPS record advertises HTTP/3'
    : 'no HTTPS record advertises HTTP/3';
}

/** The origin's own record that advertises HTTP/3 and can be used here. */
function h3Record(names: Names, origin: OriginParts): ServiceRecord | undefined {
  const services = names === null ? [] : ownRecords(names, origin).services;
  return services.find((s) => !s.incompatible && s.priority > 0 && s.alpn.includes('h3'));
}

/** Why there was no record that offers HTTP/3 in this race; `known` is what all races together know of DNS. */
function whyWithoutRecord(names: Names, known: Names, origin: OriginParts): string {
  const isUnknown = names !== null && isRecordUnanswered(names, origin);
  const isKnown = h3Record(known, origin) !== undefined;
  // A query that failed is not merely late.
  const isOpen = isUnknown && ownRecords(names, origin).lookups.some(({ unanswered }) => unanswered === true);
  if (isOpen && isKnown) return TOO_LATE;
  const told = isUnknown && !isKnown ? known : names;
  return `${withoutRecord(told, origin)}, and Alt-Svc is only known after a response`;
}

function why(v3: OriginRace, trial: Trial, known: Names): string {
  const origin = originParts(v3.origin);
  if (trial.adopted === 'h3') return 'its HTTPS record advertises it';
  // Each race asks DNS itself: an answer that another had in time may have been late here.
  const names = v3.discovered.names ?? known;
  const record = h3Record(names, origin);
  if (names === null || record === undefined) return whyWithoutRecord(names, known, origin);
  return answersNothing(v3)
    ? 'an HTTPS record advertises HTTP/3, but no complete response came over it'
    : whyNotFirst(trial, record, names);
}

/** Whether the attempt failed because of the peer or the path, and not because time ran out. */
function isRefused(attempt: Attempt): boolean {
  const { outcome, error } = attempt;
  return outcome === 'failed' && !isOurDoing(attempt) && error?.code.endsWith('-timeout') !== true;
}

/** Which protocol a first visit uses, and why, as one sentence; `names` is what all races together know of DNS. */
export function firstVisitText({ v3, names }: Pick<Explanation, 'v3' | 'names'>): string {
  if (v3 === null) return 'Not raced: the race above adopted nothing.';
  const [trial] = soundTrials(v3.trials);
  if (trial === undefined)
    return 'Not known: that race could not be run, or this machine was too busy for it.';
  const { adopted, attempts } = trial;
  if (adopted === null)
    return attempts.length > 0 && attempts.every(isRefused)
      ? 'A Happy Eyeballs v3 client cannot connect on its first visit.'
      : 'Not known: nothing was adopted within the time-out, which includes DNS here.';
  return `A Happy Eyeballs v3 client uses ${PROTOCOL_NAMES[adopted]} on its first visit: ${why(v3, trial, names)}.`;
}
