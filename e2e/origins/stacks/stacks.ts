// All server stacks under test, and which of them can run here.
import { caddy, embedded, hypercorn, nodeHttp2 } from './of-checkout.ts';
import { apache, haproxy, nginx } from './of-system.ts';

const STACKS = [embedded, caddy, hypercorn, nodeHttp2, nginx, haproxy, apache];

/** Those that can run here. */
export const presentStacks = () => STACKS.filter((stack) => stack.absent() === null);

/** Those that cannot, with the reason. */
export const absentStacks = () =>
  STACKS.flatMap(({ name, absent, optional = false }) => {
    const why = absent();
    return why === null ? [] : [{ name, why, optional }];
  });
