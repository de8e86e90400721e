import {
  type CacheOptions,
  type KeyContext,
  type KeyedLoadReturn,
  RefreshingCache,
  type TicklessEvent,
} from '../../src/index.ts';
import { type Link, ManualCluster, type PartedOptions, withBackend } from './cluster.ts';
import { recordEvents, recordLines } from './events.ts';
import { unspread } from './unspread.ts';

/** A load of a key that waits for the test to say how it ends. */
interface KeyCall {
  readonly key: string;
  readonly context: KeyContext<string>;
  resolve(answer: KeyedLoadReturn<string>): void;
  reject(error: unknown): void;
}

/** A cache of one instance. */
export interface KeyedInstance {
  readonly cache: RefreshingCache<string, string>;
  readonly calls: KeyCall[];
  readonly link: Link;
  readonly events: TicklessEvent[];
  readonly logger: ReturnType<typeof recordLines>;
}

/** An instance with a cache of a period of 1 s, without jitter. */
export function keyedInstance(
  cluster: ManualCluster,
  own: PartedOptions<CacheOptions<string, string>> = {},
): KeyedInstance {
  const link = cluster.link();
  const logger = recordLines();
  const calls: KeyCall[] = [];
  const cache = new RefreshingCache<string, string>({
    name: 'c',
    ...(own.loadMany === undefined
      ? {
          load: (key, context) =>
            new Promise<KeyedLoadReturn<string>>((resolve, reject) => {
              calls.push({ key, context, resolve, reject });
            }),
        }
      : {}),
    schedule: 1000,
    retry: false,
    random: unspread,
    clock: cluster.clock,
    logger,
    ...withBackend(link, own),
  });
  return { cache, calls, link, events: recordEvents(cache), logger };
}

/** A cluster, and two instances. */
export function keyedPair(own?: Parameters<typeof keyedInstance>[1]): {
  readonly cluster: ManualCluster;
  readonly a: KeyedInstance;
  readonly b: KeyedInstance;
} {
  const cluster = new ManualCluster();
  return { cluster, a: keyedInstance(cluster, own), b: keyedInstance(cluster, own) };
}

/** Loads a key on one instance. */
export async function loadKey(
  cluster: ManualCluster,
  { cache, calls }: KeyedInstance,
  key: string,
  answer: KeyedLoadReturn<string>,
): Promise<void> {
  const read = cache.get(key).catch(() => {});
  await cluster.clock.flush();
  calls.at(-1)?.resolve(answer);
  await read;
  await cluster.clock.flush();
}

/** Reads the keys of all of them each 10 ms, for so long. */
export async function readKeysFor(
  { clock }: ManualCluster,
  instances: readonly KeyedInstance[],
  ms: number,
  keys: readonly string[] = ['k'],
): Promise<void> {
  for (let at = 0; at < ms; at += 10) {
    for (const { cache } of instances) for (const key of keys) void cache.get(key).catch(() => {});
    await clock.advance(10);
  }
}
