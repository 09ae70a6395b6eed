// The Go peer as contestants: quic-go and net/http, racing as the code published with the paper does, asking as its
// Alt-Svc baseline does, and quic-go alone.
import { fileURLToPath } from 'node:url';
import { buildGoModule, GO_MISSING, type GoModule } from '../../go-module.ts';
import type { Opener } from '../contestant.ts';
import { DEADLINE_MS, parseTrials } from '../trial.ts';
import { insistInside, parseVersions } from './peer.ts';

const MODULE: GoModule = {
  name: 'go-peer',
  directory: fileURLToPath(new URL('../../bench/peers/go', import.meta.url)),
};

function goPeer(name: string, title: string, mode: 'race' | 'alt-svc' | 'h3'): Opener {
  return async ({ client, caddy: { host, port, address }, caPath }) => {
    let program: string;
    try {
      program = await buildGoModule(MODULE);
    } catch (error) {
      if (error instanceof Error && error.message === GO_MISSING)
        return { name, title, kind: 'peer', why: error.message };
      throw error;
    }
    const versions = parseVersions(await insistInside(client, program, ['versions']));
    const origin = { host, port, address };
    return {
      name,
      title,
      kind: 'peer',
      versions,
      async run(trials) {
        const order = { mode, origin, ca: caPath, trials, deadlineMs: DEADLINE_MS };
        const input = JSON.stringify(order);
        return parseTrials(await insistInside(client, program, ['trials'], { input }));
      },
      close: async () => {},
    };
  };
}

/** Races as the paper's code does: 10 ms, the first response wins, nothing is remembered. */
export const goRace: Opener = goPeer('go-race', "the paper's code (quic-go and net/http)", 'race');

/** The paper's baseline: old HTTP alone, for HTTP/3 is not advertised yet. */
export const goAltSvc: Opener = goPeer('go-alt-svc', "the paper's code, Alt-Svc (net/http)", 'alt-svc');

/** quic-go alone at its defaults. */
export const goH3: Opener = goPeer('go-h3', 'quic-go alone', 'h3');
