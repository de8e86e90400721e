import type { Flaw } from '../editions.ts';
import type { Phase, Script } from '../script.ts';
import { LOAD_MS } from './settings.ts';

function phase(from: number, edition: number, flaw?: Flaw): Phase {
  return {
    from,
    behaviour: 'slow',
    delayMs: LOAD_MS,
    edition,
    title: `edition ${edition}, ${LOAD_MS / 1000} s per answer`,
    ...(flaw && { flaw }),
  };
}

/** What befalls the origin of the cluster at first: it is slow, and has new data now and then. */
export const script: Script = [phase(0, 1), phase(0.15, 2), phase(0.3, 3)];

/** From when on it has the last edition of the script, as a fraction of the run. */
export const SCRIPT_OVER_AT = 0.4;
/** The last edition of the script, which is as it should be. */
export const GOOD_EDITION = 3;

/** What it has after that, when the story comes to it. */
export const half: Phase = phase(0, 4, 'half');
export const withoutCities: Phase = phase(0, 5, 'no-cities');
export const mended: Phase = phase(0, 6);
