// The DNS questions of one resolution: each is asked once, its last good answer is kept, and it is asked again when
// that has expired and is still needed.
import type { Answer, FailedAnswer, QueryKind } from './answer.ts';
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
export class Questions {
  readonly #questions = new Map<string, QuestionState>();
  readonly #underWay = new Map<number, QuestionState>();
  readonly #refused = new Set<string>();
  #queries: ResolutionAction[] = [];
  #nextQuery = 0;

  /** The question's state; asked now if it never was. Beyond a limit it is not asked, and counts as failed. */
  ask(name: string, kind: QueryKind): Question {
    const key = `${kind} ${name}`;
    let question = this.#questions.get(key);
    if (question === undefined) {
      if (this.#questions.size >= MAX_QUESTIONS) {
        this.#refused.add(key);
        return { name, kind, answer: { ok: false, kind, message: 'it leads to too many names' } };
      }
      question = { name, kind, answer: null, query: null, expiresAtMs: null, needed: true };
      this.#questions.set(key, question);
      this.#send(question);
    }
    question.needed = true;
    return question;
  }

  /** Resets what is needed: only questions asked from here on are renewed. */
  forget(): void {
    for (const question of this.#questions.values()) question.needed = false;
  }

  /** Stores an answer; one to a query that is not in progress is ignored. */
  take(query: number, answer: Answer, nowMs: number): void {
    const question = this.#underWay.get(query);
    if (question === undefined) return;
    this.#underWay.delete(query);
    question.query = null;
    if (!answer.ok && question.answer?.ok) {
      question.expiresAtMs = nowMs + SHORTEST_LIFETIME_MS;
      return;
    }
    const lifetime = answer.ok ? lifetimeMs(answer) : null;
    question.answer = answer;
    question.expiresAtMs = lifetime === null ? null : nowMs + lifetime;
  }

  /** Asks all needed and expired questions again. */
  renew(nowMs: number): void {
    for (const question of this.#needed())
      if (question.expiresAtMs !== null && question.expiresAtMs <= nowMs) this.#send(question);
  }

  /** Whether a needed question is unanswered. */
  waiting(): boolean {
    return this.#needed().some(({ query }) => query !== null);
  }

  /** When the first needed answer expires. */
  expiresAtMs(): number | null {
    let first: number | null = null;
    for (const { expiresAtMs } of this.#needed())
      if (expiresAtMs !== null && (first === null || expiresAtMs < first)) first = expiresAtMs;
    return first;
  }

  /** The first needed address question that failed, if any did. */
  failure(): FailedAnswer | null {
    for (const { kind, answer } of this.#needed())
      if (kind !== 'HTTPS' && answer !== null && !answer.ok) return answer;
    return null;
  }

  /** How many questions exceeded the limit. */
  refused(): number {
    return this.#refused.size;
  }

  /** The queries caused since the last call. */
  takeQueries(): ResolutionAction[] {
    const out = this.#queries;
    this.#queries = [];
    return out;
  }

  #send(question: QuestionState): void {
    question.query = this.#nextQuery++;
    question.expiresAtMs = null;
    this.#underWay.set(question.query, question);
    this.#queries.push({ type: 'query', query: question.query, name: question.name, kind: question.kind });
  }

  #needed(): IteratorObject<QuestionState> {
    return this.#questions.values().filter(({ needed }) => needed);
  }
}
