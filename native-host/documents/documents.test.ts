// docs/ matches the code: generated parts are up to date, and hand-written lists are complete.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { replySchema } from '@photofinish/shared/port/reply';
import { requestSchema, WIRE_PROTOCOL } from '@photofinish/shared/port/wire';
import { ATTEMPT_ERROR_CODES, MEMORIES, MODES } from '@photofinish/shared/race/terms';
import { VERDICT_CODES } from '@photofinish/shared/race/verdict-schema';
import { COMMANDS } from '../cli/command-table.ts';
import { SETTING_NAMES } from '../config.ts';
import { DISCARD_PORT } from '../network/system.ts';
import { PAGES_WITH_PARTS, withParts } from './pages.ts';

function page(name: string): string {
  return readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
}

/** Code spans in the first cells of a section's tables, or in its headings. */
function namedIn(markdown: string, heading: string): Set<string> {
  const section = markdown.split(/^(?=## )/m).find((part) => part.startsWith(`## ${heading}\n`));
  assert.ok(section, `there is no section "${heading}"`);
  const first = section.matchAll(/^(?:\| *|#{3,} )(?:<a id="[^"]*"><\/a>)?`([^`]+)`/gm);
  return new Set([...first].map(([, name = '']) => name));
}

for (const name of PAGES_WITH_PARTS)
  test(`the generated parts of docs/${name} are up to date; "npm run docs" writes them`, () => {
    assert.equal(page(name), withParts(page(name)));
  });

test('docs/verdicts.md has a row, with an anchor of its name, for every verdict and failure code', () => {
  const verdicts = page('verdicts.md');
  for (const code of [...VERDICT_CODES, ...ATTEMPT_ERROR_CODES])
    assert.match(verdicts, new RegExp(`^\\| <a id="${code}"></a>\`${code}\``, 'm'));
});

test('docs/settings.md names every setting of the helper, and no other', () => {
  assert.deepEqual([...namedIn(page('settings.md'), 'The helper')].sort(), [...SETTING_NAMES].sort());
});

test('docs/protocol.md names every message, and no other', () => {
  const protocol = page('protocol.md');
  const typesOf = (schema: typeof requestSchema | typeof replySchema) =>
    schema.options.map(({ entries }) => entries.type.literal).sort();
  assert.deepEqual([...namedIn(protocol, 'Messages to the helper')].sort(), typesOf(requestSchema));
  assert.deepEqual([...namedIn(protocol, 'Messages from the helper')].sort(), typesOf(replySchema));
  assert.ok(protocol.includes(`\`protocol\` ${WIRE_PROTOCOL}`));
});

test('docs/protocol.md names every field of every message', () => {
  const protocol = page('protocol.md');
  for (const { entries } of [...requestSchema.options, ...replySchema.options]) {
    // A race is the element of another document, which has its own page.
    const type = entries.type.literal;
    if (type === 'race' && 'trials' in entries) continue;
    for (const field of Object.keys(entries))
      assert.ok(protocol.includes(`\`${field}\``), `${type} has a field ${field}`);
  }
});

test('docs/cli.md names every command, mode, memory, and complaint', () => {
  const cli = page('cli.md');
  for (const name of COMMANDS) assert.ok(cli.includes(`### photofinish ${name}\n`), name);
  assert.deepEqual([...namedIn(cli, 'Modes')].sort(), [...MODES].sort());
  assert.deepEqual([...namedIn(cli, 'Memory')].sort(), [...MEMORIES].sort());
  const usage = readFileSync(new URL('../cli/usage.ts', import.meta.url), 'utf8');
  const union = /export type ComplaintCode =([^;]+);/.exec(usage)?.[1] ?? '';
  const complaints = [...union.matchAll(/'([a-z-]+)'/g)].map(([, code = '']) => code);
  assert.ok(complaints.length > 10);
  const ofLauncher = (file: string, message: RegExp) =>
    message.exec(readFileSync(new URL(file, import.meta.url), 'utf8'))?.[1] ?? '';
  const tooOld = ofLauncher('../bin/photofinish.cjs', /`photofinish: ([a-z-]+): this is Node/);
  const missing = ofLauncher('../install/launcher.ts', /'photofinish: ([a-z-]+): the helper/);
  assert.deepEqual([...namedIn(cli, 'Errors')].sort(), [...complaints, tooOld, missing].sort());
});

test('docs/privacy.md mentions the one datagram that the helper sends without a race', () => {
  const [, sends = ''] = page('privacy.md').split('## What the helper sends to the network\n');
  const oneLine = sends.replaceAll(/\s+/g, ' ');
  assert.match(oneLine, new RegExp(`gateway one empty UDP datagram \\(port ${DISCARD_PORT}, discard\\)`));
});
