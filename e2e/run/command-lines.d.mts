// Type declarations for command-lines.mjs.
export type Workspace = 'shared' | 'extension' | 'native-host' | 'e2e';
export type ArtefactName =
  | 'rust'
  | 'helper'
  | 'extension'
  | 'fixtures'
  | 'python'
  | 'caddy'
  | 'go-peer'
  | 'nats-server';

/** The selected tests. */
export interface Selection {
  readonly checks: boolean;
  readonly rust: boolean;
  /** Unit test files by workspace, relative to the checkout. */
  readonly units: readonly (readonly [Workspace, readonly string[]])[];
  readonly specs: readonly string[];
  /** A substring of the tests' titles. */
  readonly grep: string | undefined;
  /** A Playwright project. */
  readonly project: string | undefined;
}

export interface CommandLine {
  readonly command: string;
  readonly help?: boolean;
  readonly list?: boolean;
  readonly yes?: boolean;
  readonly headed?: boolean;
  readonly headless?: boolean;
  readonly keep?: boolean;
  /** Origins, artefacts, or the programs to run. */
  readonly names: readonly string[];
  /** For `test`, `unit` and `check`. */
  readonly selection?: Selection;
  /** For `lab`: the program's own arguments. */
  readonly rest?: readonly string[];
}

/** A usage error; its message describes it. */
export class BadUsage extends Error {}

export const COMMANDS: readonly string[];
export const ARTEFACTS: Readonly<Record<ArtefactName, string>>;
export const PRODUCT: readonly ArtefactName[];

/** Unit tests that load the QUIC addon, start local origins, or start the built helper. */
export const WITH_RUST: readonly string[];
/** Unit tests that examine the built extension. */
export const WITH_EXTENSION: readonly string[];

/** Whether a CI service runs this. */
export function isOnCi(environment?: Readonly<Record<string, string | undefined>>): boolean;
export function readCommandLine(command: string, args: readonly string[]): CommandLine;
export function artefactsFor(asked: CommandLine): readonly ArtefactName[];
export function programFile(command: 'bench' | 'lab', name: string): string;
export function programNames(command: 'bench' | 'lab'): readonly string[];
export function nounOf(command: 'bench' | 'lab'): string;
export function specFiles(): readonly string[];
export function unitTestFiles(workspace: Workspace): readonly string[];
export function usageOf(command: string): string;
export function listOf(command: string): string;
