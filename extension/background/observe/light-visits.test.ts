import assert from 'node:assert/strict';
import { test } from 'node:test';
import { originSchema } from '@photofinish/shared/web/origin';
import * as v from 'valibot';
import type { DocumentVisit } from './details.ts';
import { createLightVisits } from './light-visits.ts';

const origin = v.parse(originSchema, 'https://a.test');
const document = {
  id: 'x',
  origin,
  site: 'a.test',
  kind: 'navigation',
  delivery: 'network',
  bytes: 1,
} as const;
const observation = { ...document, atMs: 1000, protocol: 'h2' } as const;

function visits() {
  const visited: DocumentVisit[] = [];
  return { ...createLightVisits((visit) => visited.push(visit)), visited };
}

const report = (documentId: string | null) => ({ tabId: 1, documentId, url: 'https://a.test/', observation });

test('a page that the user asked for is told from one that a page navigated to', () => {
  const { committed, reported, visited } = visits();
  committed({ documentId: 'typed', parentDocumentId: null, byPage: false });
  committed({ documentId: 'link', parentDocumentId: null, byPage: true });
  reported(report('typed'));
  reported(report('link'));
  assert.deepEqual(
    visited.map(({ byPage }) => byPage),
    [false, true],
  );
  const { byPage: _, ...rest } = visited[0] as DocumentVisit;
  const unknown = { privateWindow: null, container: false, proxied: null };
  assert.deepEqual(rest, { tabId: 1, url: 'https://a.test/', atMs: 1000, ...unknown });
});

test('without its commit, or as a frame, nobody is known to have asked for it', () => {
  const { committed, reported, visited } = visits();
  committed({ documentId: 'frame', parentDocumentId: 'link', byPage: false });
  reported(report('frame'));
  reported(report('never committed'));
  reported(report(null));
  assert.ok(visited.every(({ byPage }) => byPage));
  assert.equal(visited.length, 3);
});
