// Type declarations for usrsctp.mjs.
/** Paths of its programs, and a message for their absence. */
export const USRSCTP: Readonly<Record<'client' | 'server' | 'missing', string>>;
