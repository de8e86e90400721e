import { RefreshingCache, RefreshingValue } from '../../src/index.ts';
import type { FakeClock } from '../../src/testing/index.ts';

/** What is held: of which load or `set` it is, and how often the key had been outdated before that began. */
export interface Held {
  readonly key: string;
  readonly epoch: number;
}

/** A value, or one key of a cache: what the same calls are made of. */
export interface Subject {
  get(): Promise<Held>;
  refresh(): Promise<Held>;
  set(value: Held): void;
  invalidate(): void;
  delete(): void;
  peek(): Held | undefined;
  isRunning(): boolean;
}

/** What a subject is made of. */
export interface Parts {
  readonly clock: FakeClock;
  load(key: string, signal: AbortSignal): Promise<Held>;
  /** A load has landed, and readers may see what it brought. */
  landed(key: string): void;
}

const calm = { schedule: { hours: 1 }, logger: false } as const;

export function subjectOfValue({ clock, load, landed }: Parts): Subject[] {
  const made = new RefreshingValue<Held>({
    ...calm,
    name: 'v',
    load: ({ signal }) => load('v', signal),
    clock,
  });
  made.on('load-succeeded', () => landed('v'));
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
    made.on('load-succeeded', ({ key }) => landed(key as string));
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

/** What is thrown becomes a rejection, which the others of the batch leave alone. */
function attempt(load: () => Promise<Held>): Promise<Held> {
  const end = new Promise<Held>((resolve) => resolve(load()));
  end.catch(() => {});
  return end;
}
