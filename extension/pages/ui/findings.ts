// What the helper's doctor found: problems with their remedies in view, everything else behind one line that counts it.
import type { DoctorFinding } from '@photofinish/shared/port/doctor';
import { say, type WordKey } from '../../common/words.ts';
import { make } from './elements.ts';

const CHECK_WORDS: Record<DoctorFinding['check'], WordKey> = {
  manifest: 'helperCheckManifest',
  extension: 'helperCheckExtension',
  launcher: 'helperCheckLauncher',
  runtime: 'helperCheckRuntime',
  hello: 'helperCheckHello',
  cache: 'helperCheckCache',
  config: 'helperCheckConfig',
  addon: 'helperCheckAddon',
  network: 'helperCheckNetwork',
};
/** Told apart by shape; the words beside them are for screen readers. */
const SIGNS: Record<DoctorFinding['state'], readonly [string, WordKey]> = {
  ok: ['✓', 'helperFindingOk'],
  problem: ['!', 'helperFindingProblem'],
  note: ['·', 'helperFindingNote'],
};

function findingItem({ check, state, text, remedy }: DoctorFinding): HTMLElement {
  const item = make('li', `finding ${state}`);
  const [sign, meaning] = SIGNS[state];
  const shown = make('span', 'sign', sign);
  shown.setAttribute('aria-hidden', 'true');
  const name = make('span', 'name', say(CHECK_WORDS[check]));
  name.append(make('span', 'unseen', ` (${say(meaning)})`));
  const words = make('span', 'text');
  // The doctor is a program of the command line, and speaks English.
  words.lang = 'en';
  words.dir = 'auto';
  words.textContent = remedy === null ? text : `${text}. ${remedy}`;
  item.append(shown, name, words);
  return item;
}

function bySubject(findings: readonly DoctorFinding[]): HTMLElement[] {
  const subjects = Map.groupBy(findings, ({ subject }) => subject);
  return [...subjects].flatMap(([subject, found]) => {
    const list = make('ul', 'findings');
    list.append(...found.map(findingItem));
    const heading = make('h3', '', subject);
    heading.lang = 'en';
    return [heading, list];
  });
}

/** Draws the findings into `place`; null when the helper could not be asked. */
export function renderFindings(place: HTMLElement, findings: readonly DoctorFinding[] | null): void {
  if (findings === null) {
    place.replaceChildren(make('p', 'error', say('helperNotExamined')));
    return;
  }
  const problems = findings.filter(({ state }) => state === 'problem');
  const others = findings.filter(({ state }) => state !== 'problem');
  const well = findings.filter(({ state }) => state === 'ok').length;
  const said = problems.length === 0 ? say('helperWell') : say('helperProblems', { count: problems.length });
  const rest = make('details', 'stack');
  rest.append(make('summary', '', say('helperChecks', { count: well })), ...bySubject(others));
  const summary = make('p', problems.length === 0 ? '' : 'error', said);
  summary.dataset['testid'] = 'findings-summary';
  place.replaceChildren(summary, ...bySubject(problems), rest);
}
