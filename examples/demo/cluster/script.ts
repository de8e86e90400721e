import type { Phase, Script } from '../script.ts';
import { LOAD_MS } from './settings.ts';

function phase(from: number, edition: number): Phase {
  return {
    from,
    behaviour: 'slow',
    delayMs: LOAD_MS,
    edition,
    title: `edition ${edition}, ${LOAD_MS / 1000} s per answer`,
  };
}

/** What befalls the origin of the cluster: it is slow, and has new data now and then. */
export const script: Script = [phase(0, 1), phase(0.2, 2), phase(0.4, 3), phase(0.6, 4)];

export const LAST_EDITION: number = script.length;
