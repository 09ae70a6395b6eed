// Type declarations for prerequisites.mjs, as far as tests use it.
export const OLDEST_RUST: string;
export const OLDEST_FIREFOX: string;

/** Whether a version is older than another; a missing number counts as 0. */
export function older(found: string, wanted: string): boolean;

/** A command's output, or else the problem: in the program's own words if it was found. */
export function outputOf(
  file: string,
  args: readonly string[],
): Promise<
  { readonly output: string; readonly problem: null } | { readonly output: null; readonly problem: string }
>;
