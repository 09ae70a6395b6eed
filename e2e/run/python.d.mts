// The types of python.mjs, for the TypeScript that imports it.

/** The name of a Python that the environment can be made with; null when there is none. */
export function findPython(): Promise<string | null>;

/** Whether the environment is there and holds exactly what is pinned. */
export function isPythonCurrent(): boolean;

/** The commands that make the environment, in their order. */
export function pythonCommands(
  python: string,
): readonly { readonly file: string; readonly args: readonly string[] }[];

/** Notes what the environment holds, once it is made. */
export function recordPython(): void;

export const PYTHON_NEEDED: string;
