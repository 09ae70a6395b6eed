// The DNS questions of one resolution: each is asked once, its last good answer is kept, and it is asked again when
// that has expired and is still needed.
import type { Answer, QueryKind } from './answer.ts';
import type { ResolutionAction } from './resolution.ts';

interface Question {
  readonly name: string;
  readonly kind: QueryKind;
  /** The last answer; a failure never replaces a good one. */
  readonly answer: Answer | null;
}

interface QuestionState extends Question {
  answer: Answer | null;
  /** Number of the query in progress. */
  query: number | null;
  /** When the answer's shortest TTL expires; null: it does not expire, or is being queried. */
  expiresAtMs: number | null;
  needed: boolean;
}

export interface Questions {
  /** The question's state; asked now if it never was. Beyond a limit it is not asked, and counts as failed. */
  ask(name: string, kind: QueryKind): Question;
  /** Resets what is needed: only questions asked from here on are renewed. */
  forget(): void;
  /** Stores an answer; one to a query that is not in progress is ignored. */
  take(query: number, answer: Answer, nowMs: number): void;
  /** Asks all needed and expired questions again. */
  renew(nowMs: number): void;
  /** Whether a needed question is unanswered. */
  waiting(): boolean;
  /** When the first needed answer expires. */
  expiresAtMs(): number | null;
  /** How many questions exceeded the limit. */
  refused(): number;
  /** The first needed address question that failed, if any did. */
  failure(): (Answer & { ok: false }) | null;
  /** The queries caused since the last call. */
  takeQueries(): ResolutionAction[];
}

/**
 * More than any legitimate name requires. The numbers of aliases, services and alternatives are each limited, but not
 * their product: a hostile origin could cause hundreds of questions, all of them about somebody else.
 */
const MAX_QUESTIONS = 32;

/** TTLs are whole seconds, and 0 must not cause continuous queries. */
const SHORTEST_LIFETIME_MS = 1000;

/** How long an answer is valid; null: a negative one, whose lifetime the resolver does not expose (RFC 2308). */
function lifetimeMs(answer: Answer & { ok: true }): number | null {
  const records = answer.kind === 'HTTPS' ? answer.services : answer.addresses;
  let shortest = Number.POSITIVE_INFINITY;
  for (const { ttlSeconds } of records) shortest = Math.min(shortest, ttlSeconds);
  return shortest === Number.POSITIVE_INFINITY ? null : Math.max(SHORTEST_LIFETIME_MS, shortest * 1000);
}

/** The questions of one resolution, none asked yet. */
export function createQuestions(): Questions {
  const questions = new Map<string, QuestionState>();
  const underWay = new Map<number, QuestionState>();
  const refused = new Set<string>();
  let queries: ResolutionAction[] = [];
  let nextQuery = 0;

  function send(question: QuestionState): void {
    question.query = nextQuery++;
    question.expiresAtMs = null;
    underWay.set(question.query, question);
    queries.push({ type: 'query', query: question.query, name: question.name, kind: question.kind });
  }

  function* needed(): Generator<QuestionState> {
    for (const question of questions.values()) if (question.needed) yield question;
  }

  return {
    ask(name, kind) {
      const key = `${kind} ${name}`;
      let question = questions.get(key);
      if (question === undefined) {
        if (questions.size >= MAX_QUESTIONS) {
          refused.add(key);
          return { name, kind, answer: { ok: false, kind, message: 'it leads to too many names' } };
        }
        question = { name, kind, answer: null, query: null, expiresAtMs: null, needed: true };
        questions.set(key, question);
        send(question);
      }
      question.needed = true;
      return question;
    },
    forget() {
      for (const question of questions.values()) question.needed = false;
    },
    take(query, answer, nowMs) {
      const question = underWay.get(query);
      if (question === undefined) return;
      underWay.delete(query);
      question.query = null;
      if (!answer.ok && question.answer?.ok) {
        question.expiresAtMs = nowMs + SHORTEST_LIFETIME_MS;
        return;
      }
      const lifetime = answer.ok ? lifetimeMs(answer) : null;
      question.answer = answer;
      question.expiresAtMs = lifetime === null ? null : nowMs + lifetime;
    },
    renew(nowMs) {
      for (const question of needed())
        if (question.expiresAtMs !== null && question.expiresAtMs <= nowMs) send(question);
    },
    waiting() {
      for (const question of needed()) if (question.query !== null) return true;
      return false;
    },
    expiresAtMs() {
      let first: number | null = null;
      for (const { expiresAtMs } of needed())
        if (expiresAtMs !== null && (first === null || expiresAtMs < first)) first = expiresAtMs;
      return first;
    },
    failure() {
      for (const { kind, answer } of needed())
        if (kind !== 'HTTPS' && answer !== null && !answer.ok) return answer;
      return null;
    },
    refused: () => refused.size,
    takeQueries() {
      const out = queries;
      queries = [];
      return out;
    },
  };
}
