// How a file of ours that is of no use any more is named while it is kept: beside its place, with the time. A wipe finds
// it by that name, and finds nothing else.

/** What stands behind the name of the host cache's file in the names of what was set aside of it, its journals and salt. */
export const ASIDE = /^(\.salt)?\.corrupt-\d{4}-\d{2}-\d{2}T\d{9}Z(-wal|-shm)?$/;

/** Where a file is kept that was set aside at that time. */
export function asidePath(path: string, epochMs: number): string {
  return `${path}.corrupt-${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '')}`;
}
