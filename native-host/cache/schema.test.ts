import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Origin } from '@photofinish/shared/web/origin';
import { APPLICATION_ID } from './schema.ts';
import { openHostCache } from './store.ts';

const A = 'https://a.test' as Origin;
const NOW = 1_700_000_000_000;

/** The tables as created by version 1. Copied here because such files exist, however the current schema changes. */
const VERSION_1 = `
  CREATE TABLE host (
    origin TEXT NOT NULL, network TEXT NOT NULL, adopted TEXT,
    h3AtMs REAL, h3UntilMs REAL, h3Basis TEXT, h3HandshakeMs REAL, h3RttMs REAL,
    h3FailedAtMs REAL, h3Failure TEXT, h3Failures INTEGER NOT NULL, h3BackOffUntilMs REAL,
    tcpProtocol TEXT, tcpAtMs REAL, tcpHandshakeMs REAL, tcpRttMs REAL, tcpFailedAtMs REAL, tcpFailure TEXT,
    altSvc TEXT, altSvcAtMs REAL, altSvcUntilMs REAL,
    knownRoot INTEGER, races INTEGER NOT NULL, updatedAtMs REAL NOT NULL,
    PRIMARY KEY (origin, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX hostAge ON host (updatedAtMs);
  CREATE TABLE browserUse (
    browser TEXT NOT NULL, origin TEXT NOT NULL, site TEXT NOT NULL, network TEXT NOT NULL,
    protocol TEXT, protocolAtMs REAL, tcpProtocol TEXT,
    advertisedAtMs REAL, advertisedUntilMs REAL, stays INTEGER NOT NULL, seenAtMs REAL NOT NULL,
    PRIMARY KEY (origin, site, browser, network)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX browserUseAge ON browserUse (seenAtMs);
  CREATE TABLE folded (id TEXT PRIMARY KEY, atMs REAL NOT NULL) STRICT, WITHOUT ROWID;
  CREATE INDEX foldedAge ON folded (atMs);
  CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = 1;
`;

test('a file of version 1 becomes a current one and keeps what it knew', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'photofinish-'));
  const path = join(directory, 'cache.db');
  const old = new DatabaseSync(path);
  old.exec(VERSION_1);
  const put = old.prepare(
    `INSERT INTO host (origin, network, h3AtMs, h3UntilMs, h3Basis, h3RttMs, h3Failures, altSvc, altSvcAtMs,
      altSvcUntilMs, races, updatedAtMs) VALUES (?, ?, ?, ?, 'raced', 12, 0, 'h3=":443"', ?, ?, 3, ?)`,
  );
  for (const [origin, network] of [
    [A, 'home'],
    [A, 'work'],
    ['https://b.test', 'home'],
  ] as const)
    put.run(origin, network, NOW - 10, NOW + 10_000, NOW - 10, NOW + 10_000, NOW);
  old
    .prepare(
      "INSERT INTO browserUse VALUES ('chromium', ?, 'a.test', 'home', 'h2', ?, 'h2', NULL, NULL, 2, ?)",
    )
    .run(A, NOW, NOW);
  old.exec("INSERT INTO counter VALUES ('lookups', 7), ('hits', 5), ('races', 3)");
  old.close();

  const clock = { nowMs: () => NOW, epochMs: () => NOW, after: () => () => {} };
  const said: string[] = [];
  const cache = openHostCache({ path, clock, log: (message) => said.push(message) });
  t.after(async () => {
    cache.close();
    await rm(directory, { recursive: true });
  });
  const { store, origins, lookups, hits, races, raceLookups } = cache.stats();
  assert.deepEqual([store, origins, lookups, hits, races, raceLookups], ['sqlite', 2, 7, 5, 3, 0]);
  const recalled = cache.recall('home', A);
  assert.deepEqual([recalled?.decision, recalled?.altSvc?.text], ['h3', 'h3=":443"']);
  // It is unknown when this was measured, so it is no hint; the mean itself stays and is updated.
  assert.equal(recalled?.hints.h3, null);
  assert.equal(cache.show(A).hosts[0]?.h3RttMs, 12);
  const [forecast] = cache.forecast({ network: 'home', browser: 'chromium', site: 'a.test', origins: [A] });
  assert.deepEqual(forecast?.expected, { protocol: 'h2', basis: 'observed' });
  assert.equal(cache.show(A).uses[0]?.stays, 2);
  const { failedHosts, reachedHosts } = cache.udpEvidence('home', A);
  assert.deepEqual([failedHosts, reachedHosts], [0, 1]);
  assert.deepEqual(said, []);
});
