import { RefreshingCache, RefreshingValue } from '../../src/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';
import { onEnded } from '../support/events.ts';

/** A value: its key, and how often the key had been outdated before its load or `set` began. */
export interface Held {
  readonly key: string;
  readonly epoch: number;
}

/** A value, or one key of a cache, with the same methods. */
export interface Subject {
  get(): Promise<Held>;
  refresh(): Promise<Held>;
  set(value: Held): void;
  invalidate(): void;
  delete(): void;
  peek(): Held | undefined;
  isRunning(): boolean;
}

/** The parts of a subject. */
export interface Parts {
  readonly clock: FakeClock;
  load(key: string, signal: AbortSignal): Promise<Held>;
  /** A load has settled, and readers may see its result. */
  landed(key: string): void;
}

const calm = { schedule: { hours: 1 }, retry: false, logger: false } as const;

export function subjectOfValue({ clock, load, landed }: Parts): Subject[] {
  const made = new RefreshingValue<Held>({
    ...calm,
    name: 'v',
    load: ({ signal }) => load('v', signal),
    clock,
  });
  onEnded(made, 'loaded', () => landed('v'));
  return [
    {
      get: () => made.get(),
      refresh: () => made.refresh(),
      set: (held) => made.set(held),
      invalidate: () => made.invalidate(),
      delete: () => made.invalidate({ drop: true }),
      peek: () => made.peek(),
      isRunning: () => made.inspect().running,
    },
  ];
}

export function subjectsOfCache(max: number, isMany: boolean): (parts: Parts) => Subject[] {
  return ({ clock, load, landed }) => {
    const made = new RefreshingCache<string, Held>({
      ...calm,
      name: 'c',
      max,
      clock,
      ...(isMany
        ? {
            // A promise for each key, so that each of a batch ends for itself.
            loadMany: async (keys) => {
              const ends = keys.map((key) => [key, attempt(() => load(key, new AbortController().signal))]);
              return new Map(ends as never);
            },
          }
        : { load: (key, { signal }) => load(key, signal) }),
    });
    onEnded(made, 'loaded', ({ key }) => landed(key as string));
    return ['a', 'b'].map((key) => ({
      get: () => made.get(key),
      refresh: () => made.refresh(key),
      set: (held) => made.set(key, held),
      invalidate: () => made.invalidate(key),
      delete: () => void made.delete(key),
      peek: () => made.peek(key),
      isRunning: () => made.inspect(key)?.running ?? false,
    }));
  };
}

/** An error that is thrown becomes a rejection, which does not affect the rest of the batch. */
function attempt(load: () => Promise<Held>): Promise<Held> {
  const end = new Promise<Held>((resolve) => resolve(load()));
  end.catch(() => {});
  return end;
}
