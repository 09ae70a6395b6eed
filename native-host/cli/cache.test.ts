import '@photofinish/shared/language/english';
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { ANY_NETWORK, type HostRecord, newHost } from '../cache/record.ts';
import { openHostCache } from '../cache/store.ts';
import { systemClock } from '../clock.ts';
import { recordingTerminal } from '../testing/command.ts';
import { scratchDirectory } from '../testing/scratch.ts';
import { originText, runCache } from './cache.ts';
import { NO_NAMES, plain } from './text.ts';

const NOW = 1_700_000_000_000;
const A = 'https://a.test' as Origin;
const host = (facts: Partial<HostRecord>): HostRecord => ({ ...newHost(A, 'home', NOW), ...facts });
const text = (hosts: HostRecord[], addresses: Parameters<typeof originText>[0]['addresses'] = []) =>
  originText({ hosts, uses: [], addresses }, { nowMs: NOW, names: NO_NAMES }, plain);

test('an alternative is shown with its source, when it was received, and when it expires; a persistent one only once', () => {
  const altSvc = 'h3="b.test:8443"; ma=3600; persist=1';
  const said = { altSvc, altSvcAtMs: NOW - 60_000, altSvcUntilMs: NOW + 3_540_000 };
  const record = { service: 'h3=":443"; ma=60', serviceAtMs: NOW - 90_000, serviceUntilMs: NOW - 30_000 };
  const lines = text([
    host({ ...said, altSvcBy: 'browser', network: ANY_NETWORK }),
    host({ ...said, ...record, altSvcBy: 'browser' }),
  ]);
  const from = lines.indexOf('Advertised alternatives:');
  assert.deepEqual(lines.slice(from + 1), [
    '  h3 at b.test:8443 on any network: a header that a browser received, 1 min ago,',
    '    valid for 59 min',
    '  h3 at port 443 on home: an HTTPS record, 1 min ago, expired',
  ]);
});

test('a use of HTTP/3 is not called fresh once the origin has withdrawn it', () => {
  const used = { h3AtMs: NOW - 60_000, h3UntilMs: NOW + 7_200_000, h3Basis: 'observed' } as const;
  const shown = (facts: Partial<HostRecord>): string => text([host({ ...used, ...facts })]).join('\n');
  assert.match(shown({}), /works, fresh for 2 h/);
  assert.match(shown({ altSvcAtMs: NOW, altSvcUntilMs: null }), /worked 1 min ago/);
});

test('a back-off from a clock that was ahead is over', () => {
  const failed = { h3FailedAtMs: NOW, h3Failure: 'udp-timeout', h3BackOffUntilMs: NOW + 300_000 } as const;
  assert.match(text([host(failed)]).join('\n'), /next try in 5 min/);
  const ahead = { ...failed, h3FailedAtMs: NOW + 7_200_000, h3BackOffUntilMs: NOW + 7_500_000 };
  assert.doesNotMatch(text([host(ahead)]).join('\n'), /next try/);
});

test('an alternative that responded with 421 is shown with how long it is ignored', () => {
  const wrong = { misdirected: 'a.test:8443', misdirectedUntilMs: NOW + 7_200_000 };
  assert.ok(
    text([host(wrong)]).includes(
      '  not h3 at a.test:8443 on home: it responded with 421, skipped for another 2 h',
    ),
  );
  assert.ok(!text([host({ ...wrong, misdirectedUntilMs: NOW })]).some((line) => line.includes('421')));
});

test('measured times are shown with their variance, loss, and the round trip of each address', () => {
  const lines = text(
    [host({ h3RttMs: 12.5, h3RttVarMs: 2, h3LossRate: 0.015, tcpRttMs: 20 })],
    [{ origin: A, network: 'home', address: '2001:db8::1', srttMs: 12.5, usedAtMs: NOW - 5000 }],
  );
  assert.ok(
    lines.includes('  on home: QUIC RTT 12.5 ms ± 2 ms, TCP RTT 20 ms, QUIC loss 1.5 %'),
    lines.join('\n'),
  );
  assert.ok(lines.includes('  2001:db8::1 on home: 12.5 ms, 5 s ago'));
});

test('hostile names cannot send escape sequences to the terminal', () => {
  const lines = text([host({ altSvc: 'h3%1B%5D0%3Bx="b.test:1"', altSvcAtMs: NOW, altSvcUntilMs: NOW })]);
  assert.ok(!lines.join('').includes('\u001b'));
});

test('a damaged cache is reported once by the command that sets it aside', async (t) => {
  for (const words of [['list'], ['show', A], ['forget', A]]) {
    const path = join(scratchDirectory(t), 'cache.db');
    openHostCache({ path, clock: systemClock }).close();
    truncateSync(path, 5000);
    const told = async (): Promise<readonly string[]> => {
      const { terminal, errors } = recordingTerminal();
      await runCache([...words, '--cache', path], terminal);
      return errors.filter((error) => !error.startsWith('no-record: '));
    };
    const [first, ...others] = await told();
    assert.match(
      first ?? '',
      /^cache-damaged: the host cache .*cache\.db was damaged; it was set aside as .*\.corrupt-/,
    );
    assert.deepEqual([...others, ...(await told())], []);
  }
});
