// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { expectTypeOf, test } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import {
  type absent,
  type KeyContext,
  type keep,
  type LoadContext,
  loaded,
  lockedTask,
  PeriodicExecutor,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
} from '../../../src/index.ts';
import { loadInWorker } from '../../../src/worker/index.ts';
import { lockOf } from '../../support/parts.ts';

interface Codes {
  readonly etag: string;
  readonly codes: ReadonlyMap<string, string>;
}
declare const codes: Codes;
const module = new URL('./load.js', import.meta.url);
const name = 'codes';

// Types of modules, as `typeof import('./load.js')` has them.
interface ValueModule {
  load: (context: LoadContext<string>) => Promise<Codes | ReturnType<typeof keep>>;
}
interface SynchronousModule {
  default: ({ signal }: { signal: AbortSignal }) => Codes;
}
interface BareModule {
  default: () => Codes;
}
interface KeyModule {
  default: (code: string, context: KeyContext<string>) => Promise<number | ReturnType<typeof absent>>;
}
interface ManyModule {
  load: (codes: readonly string[]) => Promise<Map<string, number | Error>>;
}

test('the value has the type of the type argument', () => {
  const value = new RefreshingValue({ name, load: loadInWorker<Codes>(module) });
  expectTypeOf(value).toEqualTypeOf<RefreshingValue<Codes>>();
  expectTypeOf(new RefreshingValue({ name, load: loadInWorker(module) }).current).toBeUnknown();
  const cache = new RefreshingCache<string, number>({ name, load: loadInWorker<number>(module) });
  expectTypeOf(cache.current('1012')).toEqualTypeOf<number>();
  const many = new RefreshingCache<string, number>({
    name,
    loadMany: loadInWorker<Map<string, number>>(module),
  });
  expectTypeOf(many.current('1012')).toEqualTypeOf<number>();
});

test('the value has the type of the load of the module', () => {
  const value = new RefreshingValue({ name, load: loadInWorker<ValueModule>(module) });
  expectTypeOf(value).toEqualTypeOf<RefreshingValue<Codes>>();
  const synchronous = new RefreshingValue({ name, load: loadInWorker<SynchronousModule>(module) });
  expectTypeOf(synchronous.current).toEqualTypeOf<Codes>();
  const bare = new RefreshingValue({ name, load: loadInWorker<BareModule>(module) });
  expectTypeOf(bare.current).toEqualTypeOf<Codes>();
  const member = new RefreshGroup().value({ name, load: loadInWorker<ValueModule>(module) });
  expectTypeOf(member.current).toEqualTypeOf<Codes>();
});

test('key and value are those of the module', () => {
  const cache = new RefreshingCache({ name, load: loadInWorker<KeyModule>(module) });
  expectTypeOf(cache).toEqualTypeOf<RefreshingCache<string, number>>();
  const many = new RefreshingCache({ name, loadMany: loadInWorker<ManyModule>(module) });
  expectTypeOf(many.current('1012')).toEqualTypeOf<number>();
  // @ts-expect-error: the load of a key can't load a value
  new RefreshingValue({ name, load: loadInWorker<KeyModule>(module) });
  // @ts-expect-error: nor the other way round
  new RefreshingCache<string, Codes>({ name, load: loadInWorker<ValueModule>(module) });
});

test('tasks', async () => {
  new PeriodicExecutor(loadInWorker(module), { name });
  const task = lockedTask(loadInWorker<Codes>(module), { name, lock: lockOf(memoryBackend()) });
  const outcome = await task();
  if (outcome.kind === 'executed') expectTypeOf(outcome.result).toEqualTypeOf<Codes>();
});

test('options', () => {
  loadInWorker(module, {
    previous: ({ etag }: Codes) => etag,
    transfer: false,
    env: process.env,
    concurrency: 1,
  });
  loadInWorker('file:///load.js', { resourceLimits: { maxOldGenerationSizeMb: 100 } });
  // @ts-expect-error: an unknown limit
  loadInWorker(module, { resourceLimits: { heap: 100 } });
  // @ts-expect-error: the buffers to transfer are found in the value
  loadInWorker(module, { transfer: () => [] });
  // @ts-expect-error: it returns a promise
  expectTypeOf(loadInWorker<Codes>(module)()).toEqualTypeOf<Codes>();
  expectTypeOf(loaded(codes)).not.toBeAny();
});
