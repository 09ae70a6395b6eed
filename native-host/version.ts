// The helper's own name and version, as every party on the wire and every reader of `--version` sees it.
export const VERSION = '1.0.0';
export const PROGRAM = `photofinish-helper/${VERSION}`;
