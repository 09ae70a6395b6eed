// What stands in the way at Caddy's end of the path.
import type { Obstacle } from '../../network/obstacles.ts';
import { CADDY_PORT } from '../testbed.ts';

const of = (transport: Obstacle['transport'], effect: Obstacle['effect']): Obstacle => ({
  transport,
  effect,
  port: CADDY_PORT,
});

export const LOST_UDP = of('udp', 'drop');
export const LOST_TCP = of('tcp', 'drop');
export const REFUSED_UDP = of('udp', 'refuse');
export const REFUSED_TCP = of('tcp', 'refuse');
