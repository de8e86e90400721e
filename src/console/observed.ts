// The one file that knows how events are heard.

import { eventTypes, type RefreshGroup, type TicklessEvent } from '../index.ts';

/** Those that each read may emit are left out: they would cost the reads of a stale value, and say nothing that a row does not. */
const PER_READ: readonly string[] = ['stale-served', 'too-stale'];

/** Hears the events of all members. @returns ends that. */
export function hear(group: RefreshGroup, listener: (event: TicklessEvent) => void): () => void {
  const types = eventTypes.filter((type) => !PER_READ.includes(type));
  const stops = group
    .members()
    .flatMap(({ member }) => types.map((type) => member.on(type, listener as never)));
  return () => {
    for (const stop of stops) stop();
  };
}
