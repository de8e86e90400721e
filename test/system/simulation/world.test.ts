import { expect, it } from 'vitest';
import { DataWorld } from './data/world.ts';
import { DeployedWorld } from './deployed/world.ts';
import { KeysWorld } from './keys/world.ts';
import { World } from './world.ts';

/** The trace without the names that differ in each process, and with each instance in it. */
async function traceOf(
  Kind: typeof World | typeof DataWorld | typeof KeysWorld | typeof DeployedWorld,
  seed: number,
): Promise<string> {
  const { trace } = await new Kind(seed, true).run();
  return trace.join('\n').replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\/\d+)?/g, '…');
}

it.each([World, DataWorld, KeysWorld, DeployedWorld])(
  'the same seed is the same %o, and another seed another one',
  async (Kind) => {
    const [first, again, other] = [await traceOf(Kind, 3), await traceOf(Kind, 3), await traceOf(Kind, 4)];
    expect(first.length).toBeGreaterThan(10_000);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  },
  60_000,
);

it('a world without a trace runs the same way', async () => {
  const [quiet, traced] = [await new World(6).run(), await new World(6, true).run()];
  expect(quiet.trace).toEqual([]);
  expect({ ...traced, trace: [] }).toEqual(quiet);
}, 60_000);

it.each([
  ['instances, faults, rounds, and their end', World, () => WORDS],
  ['bad data, guards, refused values, pins, marks', DataWorld, () => WORDS_OF_DATA],
  ['marks on keys, guards, evicted keys', KeysWorld, () => WORDS_OF_KEYS],
  ['deployments, a crowd, initial and kept values', DeployedWorld, () => WORDS_OF_DEPLOYED],
] as const)('what is simulated happens: %s', { timeout: 240_000 }, async (_, Kind, words) => {
  const unseen = new Set(words());
  for (let seed = 1; unseen.size > 0 && seed <= MAX_WORLDS; seed++) {
    const { trace, violation } = await new Kind(seed, true).run();
    expect(violation, `seed ${seed}`).toBeUndefined();
    for (const line of trace) {
      for (const word of unseen) if (line.includes(word)) unseen.delete(word);
    }
  }
  expect([...unseen]).toEqual([]);
});

/** The rarest of the words below is seen in every fifth world. */
const MAX_WORLDS = 60;

const WORDS = [
  ...[
    'crashes',
    'stands still',
    'goes on',
    'closes',
    'wall clock is stepped',
    'goes down',
    'comes back empty',
  ],
  ...['has damaged its snapshots', 'its connection is lossy', 'is lost', 'is refused', 'loses its answer'],
  ...['is carried out twice', 'is ill from now on', 'and hangs', 'too late', 'kept', 'timed-out', 'late'],
  ...['stale-served', 'too-stale', 'acquired', 'held', 'done', 'lost', 'took-over', 'adopted', 'refused'],
  ...['published', 'paused', 'resumed', 'closed', 'set (', 'drop (', 'tag (', 'reschedule ('],
  ...['is answered at once', 'is answered after', 'fails after', 'TOO_STALE', 'ABSENT', 'NOT_LOADED'],
];

const WORDS_OF_DATA = [
  ...['returns half editions', 'returns empty editions', 'returns garbage editions', 'with nothing: true'],
  ...['it shrinks by 50 %', 'refused', 'cause rolled-back', 'PINNED', 'REFUSED', 'BACKEND_DOWN'],
  ...['rollback to', 'unpin (', 'refresh past the guard (', 'set here (', 'gives true', 'gives false'],
  ...[
    'dropped (',
    'invalidated (',
    'refresh everywhere (',
    'versions →',
    'history →',
    'crashes',
    'stands still',
  ],
  ...['is lost', 'loses its answer', 'took-over', 'comes back empty', 'has damaged its snapshots'],
  ...['a signal: ', 'a forged signal: '],
];

const WORDS_OF_KEYS = [
  ...['set (', 'set here (', 'refresh (', 'drop (', 'invalidated (', 'dropped ('],
  ...['invalidated of the tag x (', 'invalidated of the tag y (', 'dropped of all keys ('],
  ...['cause loaded', 'cause adopted', 'cause set', 'evicted', 'refused'],
  ...['BACKEND_DOWN', 'crashes', 'stands still', 'is lost', 'loses its answer', 'took-over'],
];

const WORDS_OF_DEPLOYED = [
  ...['is replaced', 'first read: 0', 'cause restored', 'cause loaded', 'cause adopted', 'kept'],
  ...['writes as the older', 'writes as the newer', 'the backend is crowded'],
  ...['refresh everywhere', 'drop everywhere', 'everywhere', 'cause set'],
  ...['its connection is cut', 'comes back empty', 'held', 'failed'],
];
