// A custom schedule: reload rarely while the data does not change, and often while it does. Each "not modified" doubles
// the delay, each new value halves it.
import { type DurationObject, keep, type LoadContext, RefreshingValue, type Schedule } from 'tickless';
import { FakeClock } from 'tickless/testing';

const inMs = ({ minutes = 0 }: DurationObject): number => minutes * 60_000;

/** Keeps state, so each value needs a schedule of its own. */
function adaptive({ from, to }: { from: DurationObject; to: DurationObject }): Schedule {
  const [shortest, longest] = [inMs(from), inMs(to)];
  let delay = shortest;
  return {
    nextExecuteTime({ endedAt, now = endedAt, outcome }) {
      // Also called after a step of the wall clock; only a load that has just ended changes the delay.
      if (now === endedAt) {
        const wanted = outcome === 'kept' ? delay * 2 : delay / 2;
        delay = Math.min(Math.max(wanted, shortest), longest);
      }
      return endedAt + delay;
    },
  };
}

const clock = new FakeClock({ now: '2026-11-20T06:00:00Z' });
const isWorkingHour = (): boolean => new Date(clock.now()).getUTCHours() < 7;
let revision = 1;
let loads = 0;
const flags = new RefreshingValue({
  name: 'feature-flags',
  load: async ({ previous }: LoadContext<{ revision: number }>) => {
    loads += 1;
    if (previous?.value.revision === revision) return keep();
    return { revision };
  },
  schedule: adaptive({ from: { minutes: 1 }, to: { minutes: 60 } }),
  clock,
});

const delays: number[] = [];
flags.on('load-ended', ({ at, nextExecuteTime = at }) => delays.push((nextExecuteTime - at) / 60_000));

// The flags change every minute for an hour, and then stay the same for seven. They are read every minute.
await flags.get();
for (let minute = 0; minute < 8 * 60; minute++) {
  await clock.advance({ minutes: 1 });
  if (isWorkingHour()) revision += 1;
  await flags.get();
  await clock.flush();
}
console.log(`minutes until the next reload: ${delays.slice(0, 3)}, … ${delays.slice(59).join(', ')}`);
console.log(`${loads} loads in 8 hours, where every minute would have been 481`);
