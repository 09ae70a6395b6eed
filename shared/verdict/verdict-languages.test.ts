// Verdicts in every language: made of whole sentences, with every placeholder filled, and nothing left in English.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { useCatalog } from '../language/catalog.ts';
import type { AttemptError } from '../race/outcome.ts';
import { ATTEMPT_ERROR_CODES, CERTIFICATE_REASONS } from '../race/terms.ts';
import {
  allTexts,
  at444,
  atB,
  base,
  h2,
  h3,
  names,
  onB,
  own,
  quiet,
  refused,
  silent,
  unheard,
} from '../testing/race-samples.ts';
import type { Gain } from './gain.ts';
import { type Evidence, verdictOf } from './verdict.ts';

const gain = (quicker: Gain['quicker']): Gain => ({
  ...{ pairs: 9, h3Ms: 61, h2Ms: 102, lowMs: 38, highMs: 43 },
  quicker,
});
const LOCALES = new URL('../_locales/', import.meta.url);

function speak(language: string): void {
  const file = new URL(`${language}/shared.json`, LOCALES);
  const catalog: Record<string, { message: string }> = JSON.parse(readFileSync(file, 'utf8'));
  useCatalog((key) => catalog[key]?.message ?? '', language);
}

const ERRORS: readonly AttemptError[] = [
  { code: 'connection-closed', message: 'M', wireCode: 'PROTOCOL_ERROR' },
  ...ATTEMPT_ERROR_CODES.filter((code) => code !== 'cancelled').map((code) => ({ code, message: 'M' })),
  ...CERTIFICATE_REASONS.map((reason) => ({ code: 'certificate-invalid' as const, message: 'M', reason })),
];

const CANCELLED = h3(null, { outcome: 'cancelled', establishedMs: null });

/** Than is read of an Alt-Svc header. */
const LONGER_THAN_READ = `h3=":443"; x="${'x'.repeat(4096)}"`;
const CANCELLED_H2 = h2(null, { outcome: 'cancelled', establishedMs: null });

const BEGUN = { establishedMs: 2, firstByteMs: 3 } as const;

const CASES: readonly Partial<Evidence>[] = [
  {},
  { attempts: [] },
  { attempts: [h2()] },
  { attempts: [h2(refused)] },
  { attempts: [h2()], leftOut: true },
  { attempts: [CANCELLED, h2()] },
  { attempts: [CANCELLED, h2()], discovered: quiet },
  { attempts: [CANCELLED, h2(refused)], discovered: quiet },
  { attempts: [h3(refused), { ...CANCELLED, ...onB }, h2()], discovered: atB },
  { discovered: quiet },
  { attempts: [h3(), h2(refused)] },
  { attempts: [h3(), h2(refused)], discovered: { ...own, names: names([{}]) } },
  { attempts: [h3(), h3(silent), h2()] },
  { attempts: [h3(silent), h2()], untried: 1 },
  { attempts: [h3(silent), h2()], untried: 3984 },
  { discovered: { altSvc: 'clear', knownRoot: true } },
  { discovered: { altSvc: 'h3=":443"', altSvcOver: { tcp: null, h3: 'h3=":443"' }, knownRoot: true } },
  {
    discovered: {
      ...{ altSvc: 'h3=":443"', altSvcOver: { tcp: 'clear', h3: 'h3=":443"' }, knownRoot: true },
      names: unheard,
    },
  },
  { discovered: { altSvc: LONGER_THAN_READ, knownRoot: true } },
  { discovered: { altSvc: LONGER_THAN_READ, knownRoot: true }, attempts: [h3(silent), h2()] },
  { discovered: { ...own, knownRoot: false } },
  { discovered: at444, attempts: [h3(refused, { port: 444 }), h2()] },
  { discovered: atB, attempts: [h3(refused), h2()] },
  {
    discovered: { altSvc: 'h3=":444", h3=":445"', knownRoot: true },
    attempts: [h3(), h3(refused, { port: 444 }), h3(refused, { port: 445 }), h2()],
  },
  { attempts: [h3(null, { status: 503 }), h2(null, { status: 200 })] },
  { discovered: { altSvc: '@@, h3=":443"', knownRoot: true } },
  { discovered: { altSvc: 'h3-29=":443"', knownRoot: true } },
  { discovered: { altSvc: 'h3=":443"; ma=0', knownRoot: true } },
  {
    discovered: {
      ...own,
      alternatives: [
        { alpn: 'h3', host: '', port: 443, persist: false, expiresInSeconds: 0, source: 'answer' },
      ],
    },
  },
  { discovered: { ...own, names: names([{ alpn: ['h2'] }]) } },
  { discovered: { ...own, names: names([{ incompatible: true }]) } },
  { attempts: [h3(silent, { address: '2001:db8::1' }), h3(), h2()] },
  { attempts: [h3(silent), h2()], network: { failedHosts: 3, reachedHosts: 0 } },
  { attempts: [h3(silent), h2()], network: { failedHosts: 3, reachedHosts: 2 } },
  { browser: { lastProtocol: 'h3', visitsSinceAdvertised: 0 }, gain: gain('h3') },
  { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 0 }, gain: gain('h2') },
  { browser: { lastProtocol: 'h2', visitsSinceAdvertised: 9 }, gain: gain(null) },
  { gain: { ...gain(null), pairs: 5 } },
  ...ERRORS.flatMap((error) => [
    { error, attempts: [] },
    { attempts: [h3(error), h2()] },
    { attempts: [h3(error), h2()], discovered: quiet },
    { attempts: [h3(error), h2()], discovered: { altSvc: 'clear', knownRoot: true } },
    { attempts: [h3(error), h2(error)] },
    { attempts: [h3(error)], discovered: quiet },
    { attempts: [h3(error), CANCELLED_H2], discovered: quiet },
    { attempts: [h3(error, onB), h2()], discovered: atB },
    { attempts: [h3(error), h2()], discovered: { ...quiet, names: names([{}]) } },
    { attempts: [h3(error, BEGUN), h2()], discovered: quiet },
    { attempts: [h3(error, BEGUN), h2()], discovered: { altSvc: 'clear', knownRoot: true } },
    {
      attempts: [h3(error, BEGUN), h2()],
      discovered: { ...quiet, altSvcOver: { tcp: null, h3: 'h3=":443"' } },
    },
    { attempts: [h3(), h2(error, BEGUN)] },
    { attempts: [h3(error, BEGUN), h2(error, BEGUN)] },
  ]),
];

function texts(): string[] {
  return CASES.flatMap((change) => {
    const verdict = verdictOf({ ...base, ...change });
    return allTexts(verdict);
  });
}

speak('en');
const english = texts();

for (const language of readdirSync(LOCALES))
  test(`${language}: every verdict is made of sentences`, () => {
    speak(language);
    for (const text of texts()) {
      assert.match(text, /^[\p{Lu}\d].*\.$/u, text);
      assert.doesNotMatch(text, /[{}!]|undefined|null| {2}|\.\.| \./, text);
    }
  });

for (const language of readdirSync(LOCALES).filter((name) => name !== 'en'))
  test(`${language}: no part of a verdict stays English`, () => {
    speak(language);
    for (const [i, text] of texts().entries()) {
      assert.notEqual(text, english[i]);
      assert.doesNotMatch(text, /(?<!-)\b(the|and|there|not|fails|with)\b(?!-)/, text);
    }
  });
