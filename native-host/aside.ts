// The names of our own unusable files that are kept for inspection: beside the original, with the time. A wipe deletes
// files with such names and no others.

/**
 * Suffix after the name of the host cache's file in the names of files set aside: the cache, its journals and the salt.
 */
export const ASIDE = /^(\.salt)?\.corrupt-\d{4}-\d{2}-\d{2}T\d{9}Z(-wal|-shm)?$/;

/** The path for a file set aside at that time. */
export function asidePath(path: string, epochMs: number): string {
  return `${path}.corrupt-${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '')}`;
}
