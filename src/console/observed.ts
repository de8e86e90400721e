// The one file that knows how events are heard.

import type { RefreshGroup, TicklessEvent } from '../index.ts';
import { EVENT_TYPES } from '../observe/events.ts';

/** Not those that each read may emit: they would cost the reads of a stale value, and say nothing that a row does not. */
const HEARD = EVENT_TYPES.filter((type) => type !== 'stale-served' && type !== 'too-stale');

/** Hears the events of all members, also of those that are made later. @returns ends that. */
export function hear(group: RefreshGroup, listener: (event: TicklessEvent) => void): () => void {
  const stops = HEARD.map((type) => group.on(type, listener));
  return () => {
    for (const stop of stops) stop();
  };
}
