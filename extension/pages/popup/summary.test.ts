// What is shown beneath a verdict: its findings, why there is no protocol, what is missing from the race's record.
import assert from 'node:assert/strict';
import '../../testing/catalogs.ts';
import { test } from 'node:test';
import type { OriginRace } from '@photofinish/shared/race/outcome';
import { NO_REQUESTS } from '@photofinish/shared/report/adoption';
import { verdictSaying } from '@photofinish/shared/testing/race-samples';
import type { OriginView, SteerView } from '../../common/messages.ts';
import { useLanguage } from '../../testing/catalogs.ts';
import { aRace, originView } from '../../testing/samples.ts';
import { findingTexts, isLimitedByMode, renderSteer, steerText, wireSteer } from './summary.ts';

const LEFT_OUT = { addresses: 1, services: 0, lookups: 0, attempts: 88_110 };

function view(race: OriginRace | null): OriginView {
  const verdict = verdictSaying('unknown', '', ['h3-not-offered', 'It is not.']);
  return originView('a.test', { counts: NO_REQUESTS, race, verdict });
}

test('a race with an incomplete record says so beneath its verdict, in both languages', () => {
  assert.deepEqual(findingTexts(view(aRace({ leftOut: LEFT_OUT }))), [
    'It is not.',
    'Left out, because there were too many: 1 address, 88,110 attempts.',
  ]);
  useLanguage('de');
  assert.equal(
    findingTexts(view(aRace({ leftOut: LEFT_OUT }))).at(-1),
    'Ausgelassen, weil es zu viele waren: 1 Adresse, 88.110 Versuche.',
  );
  useLanguage('en');
});

test('a complete record, and none, says nothing about it', () => {
  assert.deepEqual(findingTexts(view(aRace())), ['It is not.']);
  assert.deepEqual(findingTexts(view(null)), ['It is not.']);
});

test('why there is no protocol is said once: in the verdict, or beneath it', () => {
  const hidden = { ...view(null), protocol: 'unknown', reason: 'no-timing-allow-origin' } as const;
  assert.equal(findingTexts(hidden).length, 2);
  const why = { code: 'unknown', key: 'pageNoTimingAllowOrigin', params: {} } as const;
  const verdict = { code: 'unknown', findings: [why] } as const;
  assert.deepEqual(findingTexts({ ...hidden, verdict }), []);
});

test('the popup offers full mode where light mode leaves something open', () => {
  const unseen = { code: 'unknown', key: 'pageAdvertisementUnseen', params: {} } as const;
  const open = { ...view(null), verdict: { code: 'unknown', findings: [unseen] } } as const;
  const hidden = { ...NO_REQUESTS, unknown: 1 };
  assert.ok(isLimitedByMode({ mode: 'light', counts: hidden, origins: [view(null)] }));
  assert.ok(isLimitedByMode({ mode: 'light', counts: NO_REQUESTS, origins: [view(null), open] }));
  assert.ok(!isLimitedByMode({ mode: 'light', counts: NO_REQUESTS, origins: [view(null)] }));
  assert.ok(!isLimitedByMode({ mode: 'full', counts: hidden, origins: [open] }));
});

// The popup's texts about steering: one for every state, and a button that can be pressed only if that has an effect.

const NOTHING: SteerView = { enabled: true, chosen: false, active: null, possible: null, undone: null };
const ACTIVE = { direction: 'to-h3', undoing: false, untilMs: 0 } as const;

test('nothing is shown if nothing can be steered', () => {
  assert.equal(steerText(null), null);
  assert.equal(steerText(NOTHING), null);
  assert.equal(steerText({ ...NOTHING, enabled: false }), null);
});

test('an offer says what would be done, and only the switch in the options can forbid it', () => {
  const offer = steerText({ ...NOTHING, possible: 'to-h3' });
  assert.match(offer?.text ?? '', /has not advertised it to Firefox/);
  assert.deepEqual(offer?.press, { words: 'Use HTTP/3', on: true });
  assert.deepEqual(steerText({ ...NOTHING, possible: 'from-h3' })?.press, {
    words: 'Stay on HTTP/2',
    on: true,
  });
  assert.equal(steerText({ ...NOTHING, possible: 'to-h3', enabled: false })?.press.on, 'options');
});

test('under a private root the offer says on which condition it takes effect', () => {
  const offer = steerText({ ...NOTHING, possible: 'to-h3', privateRoot: true });
  assert.match(
    offer?.text ?? '',
    /private root.* network\.http\.http3\.disable_when_third_party_roots_found/,
  );
  assert.equal(offer?.press.on, true);
  const away = steerText({ ...NOTHING, possible: 'from-h3', privateRoot: true });
  assert.doesNotMatch(away?.text ?? '', /root/, 'the browser is kept off HTTP/3 anyway');
});

test('what is in force can be undone, and what is being undone says so', () => {
  const active = steerText({ ...NOTHING, chosen: true, active: ACTIVE });
  assert.match(active?.text ?? '', /^Steered to HTTP\/3 by Photofinish until /);
  assert.equal(active?.press.on, false);
  const undoing = steerText({ ...NOTHING, active: { ...ACTIVE, undoing: true } });
  assert.match(undoing?.text ?? '', /Being undone/);
  assert.deepEqual(undoing?.press, { words: 'Undo', on: null });
});

test('an end not requested by the user says why', () => {
  const texts = (['network', 'failed', 'expired', 'changed'] as const).map(
    (undone) => steerText({ ...NOTHING, chosen: true, undone })?.text,
  );
  assert.equal(new Set(texts).size, 4);
  assert.match(steerText({ ...NOTHING, chosen: true })?.text ?? '', /Selected/);
});

test('the button that undoes stays where the focus is, and does nothing until that is done', (t) => {
  const part = () => Object.assign(new EventTarget(), { hidden: false, ariaDisabled: null, value: '' });
  const parts = { steer: part(), 'steer-words': part(), 'steer-press': part() };
  Object.assign(globalThis, { document: { getElementById: (id: keyof typeof parts) => parts[id] } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const pressed: boolean[] = [];
  wireSteer(
    (on) => pressed.push(on),
    () => assert.fail('the options'),
  );
  const press = (steer: SteerView): void => {
    renderSteer({ steer }, null);
    assert.equal(parts['steer-press'].hidden, false);
    parts['steer-press'].dispatchEvent(new Event('click'));
  };
  press({ ...NOTHING, chosen: true, active: ACTIVE });
  press({ ...NOTHING, active: { ...ACTIVE, undoing: true } });
  assert.deepEqual(pressed, [false]);
  press({ ...NOTHING, possible: 'to-h3' });
  assert.deepEqual(pressed, [false, true]);
});
