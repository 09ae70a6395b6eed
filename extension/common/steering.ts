// What pages are told of steering an origin to or from HTTP/3.

/** `to-h3`: names HTTP/3 where the server does not. `from-h3`: takes the server's own advertisement back. */
export type Direction = 'to-h3' | 'from-h3';

/** Why a steering was undone last. */
export type Undone = 'network' | 'failed' | 'expired' | 'changed';
