// Checked by tsc, not run: each expectation that does not hold is a compile error.

import { expectTypeOf, test } from 'vitest';
import { changesAtMost, every, notEmpty, shrinksAtMost } from '../../../src/guards/index.ts';
import {
  type Derived,
  derive,
  keep,
  type LoadContext,
  loaded,
  RefreshGroup,
  RefreshingCache,
  RefreshingValue,
  refreshing,
  type ValueOptions,
  type ValueStatus,
} from '../../../src/index.ts';
import type { StandardSchema } from '../../../src/schema.ts';

interface Rates {
  readonly etag: string | null;
  readonly usd: number;
}
const rates: Rates = { etag: null, usd: 1.08 };
const name = 'v';
const maybe = Math.random() < 0.5;

test('T is inferred from a load: asynchronous, synchronous, or sometimes so', () => {
  const value = new RefreshingValue({ name, load: async () => new Map([['USD', 1.08]]) });
  expectTypeOf(value).toEqualTypeOf<RefreshingValue<Map<string, number>>>();
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Map<string, number>>>();
  expectTypeOf(value.refresh()).toEqualTypeOf<Promise<Map<string, number>>>();
  const synchronous = new RefreshingValue({ name, load: () => 5 });
  expectTypeOf(synchronous.current).toEqualTypeOf<number>();
  expectTypeOf(synchronous.peek()).toEqualTypeOf<number | undefined>();
  expectTypeOf(synchronous.set).parameter(0).toEqualTypeOf<number>();
  const either = new RefreshingValue({ name, load: () => (maybe ? rates : Promise.resolve(rates)) });
  expectTypeOf(either).toEqualTypeOf<RefreshingValue<Rates>>();
});

test('functions in guards get the type of the value that is loaded', () => {
  const load = async (): Promise<Rates> => rates;
  const value = new RefreshingValue({ name, load, accept: every((v) => v.usd > 0) });
  expectTypeOf(value.current).toEqualTypeOf<Rates>();
  new RefreshingValue({ name, load, accept: shrinksAtMost(0.3, { sizeOf: (v) => v.usd }) });
  new RefreshingValue({ name, load: () => [rates], accept: changesAtMost(0.5, { idOf: (v) => v.usd }) });
  new RefreshingValue({
    name,
    load: async () => new Set([rates]),
    accept: every(changesAtMost(0.5, { idOf: (v) => v.usd })),
  });
  // @ts-expect-error they have no property of that name
  new RefreshingValue({ name, load: () => [rates], accept: changesAtMost(0.5, { idOf: (v) => v.euro }) });
  // @ts-expect-error they have no property of that name
  new RefreshingValue({ name, load, accept: every((v) => v.usd > 0 && v.euro) });
  // @ts-expect-error the same
  new RefreshingValue({ name, load: async (_: LoadContext<Rates>) => rates, accept: every((v) => v.euro) });
  // @ts-expect-error the same, of keys
  new RefreshingCache({ name, load: async (key: string) => [key], accept: every((v) => v.euro) });
  // @ts-expect-error the same
  new RefreshingValue({ name, load, unchanged: (before, now) => before.usd === now.euro });
  new RefreshingValue({ name, load: async ({ signal }) => [signal], accept: every((v) => v.length > 0) });
  // @ts-expect-error they have no property of that name
  refreshing(load, { accept: every((v) => v.usd > 0 && v.euro) });
  // @ts-expect-error the same
  new RefreshingValue<Rates>({ name, load, accept: every((v) => v.usd > 0 && v.euro) });
});

test('a guard and a schema do not change T', () => {
  const schema: StandardSchema<Rates> = { '~standard': { version: 1, validate: () => ({ value: rates }) } };
  const value = new RefreshingValue({
    name,
    load: async () => rates,
    schema,
    accept: (candidate, { previous }) => {
      expectTypeOf(candidate).toEqualTypeOf<Rates>();
      expectTypeOf(previous?.value).toEqualTypeOf<Rates | undefined>();
      return true;
    },
  });
  const accept = every(notEmpty(), ({ usd }: Rates) => usd > 0 || 'no dollars');
  expectTypeOf(new RefreshingValue({ name, load: () => rates, accept }).current).toEqualTypeOf<Rates>();
  expectTypeOf(value.current).toEqualTypeOf<Rates>();
});

test('T is the output of the schema, where the load says less, or something else', () => {
  interface Checked {
    readonly usd: number;
    readonly codes: readonly string[];
  }
  const schema = {} as StandardSchema<Checked>;
  const unknown = async (): Promise<unknown> => JSON.parse('{}');
  const any = async () => JSON.parse('{}');
  const accept = every((v: Checked) => v.usd > 0);
  const group = new RefreshGroup();
  for (const value of [
    new RefreshingValue({ name, load: unknown, schema, accept: every((v) => v.usd > 0) }),
    new RefreshingValue({
      name,
      load: any,
      schema,
      accept: shrinksAtMost(0.3, { sizeOf: (v) => v.codes.length }),
    }),
    new RefreshingValue({
      name,
      load: async ({ previous }) => (previous === undefined ? rates : 5),
      schema,
      unchanged: (before, now) => before.usd === now.usd,
    }),
    new RefreshingValue({ name, load: () => loaded<unknown>(rates, { dueAfter: '5m' }), schema, accept }),
    group.value({ name, load: unknown, schema, accept: every((v) => v.usd > 0) }),
  ]) {
    expectTypeOf(value).toEqualTypeOf<RefreshingValue<Checked>>();
  }
  const many = async (keys: readonly string[]): Promise<Map<string, unknown>> => new Map([[String(keys), 1]]);
  for (const cache of [
    new RefreshingCache({
      name,
      load: async (key: string): Promise<unknown> => key,
      schema,
      accept: every((v) => v.usd > 0),
      sizeOf: (v) => v.codes.length,
      maxSize: 10,
    }),
    new RefreshingCache({
      name,
      loadMany: many,
      schema,
      accept: shrinksAtMost(0.3, { sizeOf: (v) => v.codes.length }),
    }),
    group.cache({ name, load: async (key: string): Promise<unknown> => key, schema }),
  ]) {
    expectTypeOf(cache).toEqualTypeOf<RefreshingCache<string, Checked>>();
  }
  // @ts-expect-error: the schema has no euro
  new RefreshingValue({ name, load: unknown, schema, accept: every((v) => v.euro > 0) });
  // @ts-expect-error: keys that are objects need keyOf
  new RefreshingCache({ name, load: async (key: { a: 1 }): Promise<unknown> => key, schema });
});

test('a schema does not get into the way of what is written otherwise', () => {
  const schema = {} as StandardSchema<Rates>;
  const either = maybe ? schema : undefined;
  expectTypeOf(
    new RefreshingValue({ name, load: async () => rates, schema: either }).current,
  ).toEqualTypeOf<Rates>();
  new RefreshingValue<Rates>({ name, load: () => new Promise((resolve) => resolve(rates)), schema });
  new RefreshingValue<Rates>({ name, load: () => new Promise((resolve) => resolve(rates)) });
  const made = <T>(options: ValueOptions<T>): RefreshingValue<T> => new RefreshingValue(options);
  const checked = <T>(load: () => Promise<T>, of: StandardSchema<T>): RefreshingValue<T> =>
    new RefreshingValue({ name, load, schema: of });
  expectTypeOf(made({ name, load: async () => rates })).toEqualTypeOf<RefreshingValue<Rates>>();
  expectTypeOf(checked(async () => rates, schema)).toEqualTypeOf<RefreshingValue<Rates>>();
  expectTypeOf(
    new RefreshingValue({ name, load: async (): Promise<unknown> => rates }).current,
  ).toEqualTypeOf<unknown>();
});

test('a literal widens where it stands alone', () => {
  expectTypeOf(new RefreshingValue({ name, load: () => 'a' }).current).toEqualTypeOf<string>();
  const union = new RefreshingValue({ name, load: async () => (maybe ? 'a' : 1) });
  expectTypeOf(union.get()).toEqualTypeOf<Promise<'a' | 1>>();
});

test('keep() and loaded() are not part of T', () => {
  const load = () => {
    if (maybe) return keep({ dueAfter: 1000 });
    return maybe ? loaded(rates, { headers: new Headers() }) : rates;
  };
  expectTypeOf(new RefreshingValue({ name, load }).current).toEqualTypeOf<Rates>();
  expectTypeOf(new RefreshingValue({ name, load: async () => load() }).current).toEqualTypeOf<Rates>();
  expectTypeOf(new RefreshingValue({ name, load: () => loaded(rates) }).current).toEqualTypeOf<Rates>();
});

test('previous has the type of the annotation', () => {
  const value = new RefreshingValue({
    name,
    load: async ({ previous }: LoadContext<Rates>) => {
      type Previous = {
        readonly value: Rates;
        readonly loadedAt: number;
        readonly meta?: Readonly<Record<string, unknown>> | undefined;
      };
      expectTypeOf(previous).toEqualTypeOf<Previous | undefined>();
      return previous === undefined ? loaded(rates) : keep();
    },
  });
  expectTypeOf(value.current).toEqualTypeOf<Rates>();
  new RefreshingValue({
    name: 'v',
    // @ts-expect-error: the load returns a number, so `previous` is not a string
    load: async ({ previous }: LoadContext<string>) => (previous ? 5 : 6),
  });
});

test('without an annotation the context is typed, and the previous value unknown', () => {
  new RefreshingValue({
    name,
    load: async ({ signal, attempt, background, trigger, previous }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(attempt).toEqualTypeOf<number>();
      expectTypeOf(background).toEqualTypeOf<boolean>();
      expectTypeOf(trigger).toEqualTypeOf<'first' | 'due' | 'forced' | 'invalidated'>();
      expectTypeOf(previous?.value).toBeUnknown();
      return rates;
    },
  });
});

test('the status has a value only when there is one', () => {
  const status = new RefreshingValue({ name, load: async () => rates }).inspect();
  expectTypeOf(status).toEqualTypeOf<ValueStatus<Rates>>();
  const empty: Pick<typeof status, 'value'> = {};
  expectTypeOf(empty.value).toEqualTypeOf<Rates | undefined>();
  expectTypeOf(status.age).toEqualTypeOf<number | undefined>();
  expectTypeOf(status.state).toEqualTypeOf<'empty' | 'fresh' | 'stale' | 'too-stale' | 'absent'>();
  // @ts-expect-error: it may be missing
  status.value.usd;
  // @ts-expect-error: a status is a copy to read
  status.age = 1;
});

test('set takes a value of the type only', () => {
  const value = new RefreshingValue({ name, load: async () => rates });
  value.set(rates);
  // @ts-expect-error: not the type of the value
  value.set('rates');
  // @ts-expect-error: undefined is not a value of this type
  value.set(undefined);
});

test('derive infers the values of its sources as a tuple, and the result', () => {
  const one = new RefreshingValue({ name, load: async () => 1 });
  const map = new RefreshingValue({
    name,
    load: async ({ previous }: LoadContext<Rates>) => previous?.value ?? rates,
  });
  const doubled = derive(one, (value) => {
    expectTypeOf(value).toEqualTypeOf<number>();
    return `${value}`;
  });
  expectTypeOf(doubled).toEqualTypeOf<Derived<string>>();
  const joined = derive([doubled, one, map], (text, number, table) => {
    expectTypeOf([text, number, table] as const).toEqualTypeOf<readonly [string, number, Rates]>();
    return { text, number };
  });
  expectTypeOf(joined.get()).toEqualTypeOf<Promise<{ text: string; number: number }>>();
  expectTypeOf(joined.peek()).toEqualTypeOf<{ text: string; number: number } | undefined>();
  // @ts-expect-error: a function of another value
  derive(one, (value: string) => value);
  // @ts-expect-error: no source
  derive(5, (value) => value);
});
