// The counts of every kind of request against the servers' logs, as each browser is observed in full.
import { compareCounts } from '../counted/compare.ts';
import { test } from '../fixtures.ts';

test('no response is counted under a wrong protocol, and inexact counts are as in docs/counts.md', async ({
  open,
  dir,
  kind,
}) => compareCounts({ open, dir, kind }, 'full'));
