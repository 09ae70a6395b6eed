// Type declarations for python.mjs.

/** The name of a Python that can create the environment; null if there is none. */
export function findPython(): Promise<string | null>;

/** Whether the environment exists and contains exactly the pinned packages. */
export function isPythonCurrent(): boolean;

/** The commands that create the environment, in order. */
export function pythonCommands(
  python: string,
): readonly { readonly file: string; readonly args: readonly string[] }[];

/** Records the contents of the environment after it was created. */
export function recordPython(): void;

export const PYTHON_NEEDED: string;
