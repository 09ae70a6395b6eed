// All server stacks that are tried, and which of them can be tried here.
import { caddy, embedded, hypercorn, nodeHttp2 } from './of-checkout.ts';
import { apache, haproxy, nginx } from './of-system.ts';

const STACKS = [embedded, caddy, hypercorn, nodeHttp2, nginx, haproxy, apache];

/** Those that can run here. */
export const presentStacks = () => STACKS.filter((stack) => stack.absent() === null);

/** Those that cannot, and why. */
export const absentStacks = () =>
  STACKS.flatMap(({ name, absent, optional = false }) => {
    const why = absent();
    return why === null ? [] : [{ name, why, optional }];
  });
