// The types of command-lines.mjs, for the TypeScript that imports it.
export type Workspace = 'shared' | 'extension' | 'native-host' | 'e2e';
export type ArtefactName = 'rust' | 'helper' | 'extension' | 'fixtures' | 'python' | 'caddy' | 'go-peer';

/** Which tests were meant. */
export interface Selection {
  readonly checks: boolean;
  readonly rust: boolean;
  /** Files of unit tests by workspace, from the top of the checkout. */
  readonly units: readonly (readonly [Workspace, readonly string[]])[];
  readonly specs: readonly string[];
  /** Part of the tests' titles. */
  readonly grep: string | undefined;
  /** Playwright's. */
  readonly project: string | undefined;
}

export interface CommandLine {
  readonly command: string;
  readonly help?: boolean;
  readonly list?: boolean;
  readonly yes?: boolean;
  readonly headed?: boolean;
  readonly headless?: boolean;
  /** Origins, artefacts, or the programs that are to run. */
  readonly names: readonly string[];
  /** Of `test`, `unit` and `check`. */
  readonly selection?: Selection;
  /** Of `lab`: the program's own words. */
  readonly rest?: readonly string[];
}

/** A mistake on the command line; its message says which. */
export class BadUsage extends Error {}

export const COMMANDS: readonly string[];
export const ARTEFACTS: Readonly<Record<ArtefactName, string>>;
export const PRODUCT: readonly ArtefactName[];

export function readCommandLine(command: string, args: readonly string[]): CommandLine;
export function artefactsFor(asked: CommandLine): readonly ArtefactName[];
export function programFile(command: 'bench' | 'lab', name: string): string;
export function programNames(command: 'bench' | 'lab'): readonly string[];
export function nounOf(command: 'bench' | 'lab'): string;
export function specFiles(): readonly string[];
export function unitTestFiles(workspace: Workspace): readonly string[];
export function usageOf(command: string): string;
export function listOf(command: string): string;
