// How the hosts of a survey fare over HTTP/3 from one vantage point, for verdicts: a network that blocks UDP shows in
// many hosts at once. The evidence of the host cache, about the machine's own visits, has no part in it.
import type { NetworkEvidence, OriginRace } from '@photofinish/shared/race/outcome';
import { NO_OTHERS } from '@photofinish/shared/verdict/evidence';
import { originParts } from '@photofinish/shared/web/origin';
import { factsOf, withOrigin } from './facts.ts';

/** Hosts remembered of each kind; more would not change any verdict. */
const MAX_HOSTS = 1000;

export interface VantageEvidence {
  add(race: OriginRace): void;
  /** The hosts other than that of `origin`. */
  except(origin: OriginRace['origin']): NetworkEvidence;
  /** On another network nothing of it holds. */
  forget(): void;
}

export function vantageEvidence(): VantageEvidence {
  const failed = new Set<string>();
  const reached = new Set<string>();
  const note = (hosts: Set<string>, host: string): void => {
    if (hosts.size < MAX_HOSTS) hosts.add(host);
  };
  return {
    add(race) {
      const { host } = originParts(race.origin);
      const { failedHosts, reachedHosts } = withOrigin(NO_OTHERS, factsOf(race));
      if (reachedHosts > 0) note(reached, host);
      if (failedHosts > 0) note(failed, host);
    },
    except(origin) {
      const { host } = originParts(origin);
      return {
        failedHosts: failed.size - Number(failed.has(host)),
        reachedHosts: reached.size - Number(reached.has(host)),
      };
    },
    forget() {
      failed.clear();
      reached.clear();
    },
  };
}
