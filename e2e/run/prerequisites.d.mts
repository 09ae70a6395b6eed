// Type declarations for prerequisites.mjs, as far as tests use it.
export const OLDEST_RUST: string;
export const OLDEST_FIREFOX: string;

/** Whether a version is older than another; a missing number counts as 0. */
export function older(found: string, wanted: string): boolean;
