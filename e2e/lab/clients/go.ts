// The Go peer as clients under test: quic-go and net/http, racing as the code published with the paper does, asking as its
// Alt-Svc baseline does, and quic-go alone.
import { goProgram } from '../../go-programs.ts';
import type { ServedTestbed } from '../testbed.ts';
import { orderedProgram, peer } from './peer.ts';

const inMode = (mode: 'race' | 'alt-svc' | 'h3') => async (testbed: ServedTestbed) =>
  orderedProgram(testbed, [goProgram('go-peer')], { mode });

/** Races as the paper's code does: 10 ms, the first response wins, nothing is remembered. */
export const goRace = peer('go-race', "the paper's code (quic-go and net/http)", inMode('race'));

/** The paper's baseline: old HTTP alone, for HTTP/3 is not advertised yet. */
export const goAltSvc = peer('go-alt-svc', "the paper's code, Alt-Svc (net/http)", inMode('alt-svc'));

/** quic-go alone at its defaults. */
export const goH3 = peer('go-h3', 'quic-go alone', inMode('h3'));
