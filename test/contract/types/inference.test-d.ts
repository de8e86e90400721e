// Checked by tsc, not run: each expectation that does not hold is a compile error.
import { expectTypeOf, test } from 'vitest';
import { keep, type LoadContext, loaded, RefreshingValue, type ValueStatus } from '../../../src/index.ts';

interface Rates {
  readonly etag: string | null;
  readonly usd: number;
}
const rates: Rates = { etag: null, usd: 1.08 };
const name = 'v';

test('T is inferred from a synchronous load', () => {
  const value = new RefreshingValue({ name, load: () => 5 });
  expectTypeOf(value).toEqualTypeOf<RefreshingValue<number>>();
  expectTypeOf(value.current).toEqualTypeOf<number>();
  expectTypeOf(value.peek()).toEqualTypeOf<number | undefined>();
  expectTypeOf(value.set).parameter(0).toEqualTypeOf<number>();
});

test('T is inferred from an asynchronous load', () => {
  const value = new RefreshingValue({ name, load: async () => new Map([['USD', 1.08]]) });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Map<string, number>>>();
  expectTypeOf(value.refresh()).toEqualTypeOf<Promise<Map<string, number>>>();
  expectTypeOf(value.current).toEqualTypeOf<Map<string, number>>();
});

test('T is inferred from a load that is sometimes synchronous', () => {
  const value = new RefreshingValue({
    name,
    load: () => (Math.random() < 0.5 ? rates : Promise.resolve(rates)),
  });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Rates>>();
});

test('a literal widens where it stands alone', () => {
  expectTypeOf(new RefreshingValue({ name, load: () => 'a' }).current).toEqualTypeOf<string>();
  const union = new RefreshingValue({ name, load: async () => (Math.random() < 0.5 ? 'a' : 1) });
  expectTypeOf(union.get()).toEqualTypeOf<Promise<'a' | 1>>();
});

test('keep() is no part of T', () => {
  const value = new RefreshingValue({ name, load: async () => (Math.random() < 0.5 ? keep() : rates) });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Rates>>();
  const synchronous = new RefreshingValue({ name, load: () => (Math.random() < 0.5 ? keep() : rates) });
  expectTypeOf(synchronous.current).toEqualTypeOf<Rates>();
});

test('loaded(value) stands for its value', () => {
  const value = new RefreshingValue({ name, load: async () => loaded(rates, { maxStaleness: 1000 }) });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Rates>>();
  const synchronous = new RefreshingValue({ name, load: () => loaded(rates) });
  expectTypeOf(synchronous.current).toEqualTypeOf<Rates>();
});

test('all three kinds of answer in one load', () => {
  const value = new RefreshingValue({
    name,
    load: async () => {
      if (Math.random() < 0.3) return keep({ nextExecuteTime: Date.now() + 1000 });
      if (Math.random() < 0.5) return loaded(rates, { headers: new Headers() });
      return rates;
    },
  });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Rates>>();
});

test('previous has the type of the annotation', () => {
  const value = new RefreshingValue({
    name,
    load: async ({ previous, signal, attempt }: LoadContext<Rates>) => {
      expectTypeOf(previous).toEqualTypeOf<
        { readonly value: Rates; readonly loadedAt: number } | undefined
      >();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(attempt).toEqualTypeOf<number>();
      if (previous !== undefined) return keep();
      return loaded(rates);
    },
  });
  expectTypeOf(value.get()).toEqualTypeOf<Promise<Rates>>();
  expectTypeOf(value.current).toEqualTypeOf<Rates>();
});

test('without an annotation the context is typed, and the previous value unknown', () => {
  new RefreshingValue({
    name,
    load: async ({ signal, background, trigger, previous }) => {
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(background).toEqualTypeOf<boolean>();
      expectTypeOf(trigger).toEqualTypeOf<'first' | 'due' | 'forced' | 'invalidated'>();
      expectTypeOf(previous?.value).toBeUnknown();
      return rates;
    },
  });
});

test('the status has a value only when there is one', () => {
  const value = new RefreshingValue({ name, load: async () => rates });
  const status = value.inspect();
  expectTypeOf(status).toEqualTypeOf<ValueStatus<Rates>>();
  expectTypeOf(status.value).toEqualTypeOf<Rates | undefined>();
  const empty: Pick<typeof status, 'value'> = {};
  expectTypeOf(empty.value).toEqualTypeOf<Rates | undefined>();
  expectTypeOf(status.age).toEqualTypeOf<number | undefined>();
  expectTypeOf(status.state).toEqualTypeOf<'empty' | 'fresh' | 'stale' | 'too-stale' | 'absent'>();
  // @ts-expect-error: it may be missing
  status.value.usd;
  // @ts-expect-error: a status is a copy to read
  status.age = 1;
});

test('set takes a value of the type, and no other', () => {
  const value = new RefreshingValue({ name, load: async () => rates });
  value.set(rates);
  // @ts-expect-error: not the type of the value
  value.set('rates');
  // @ts-expect-error: undefined is no value of this type
  value.set(undefined);
});

// What the load is promised as `previous` must be what it brings.
new RefreshingValue({
  name: 'v',
  // @ts-expect-error a number is no string
  load: async ({ previous }: LoadContext<string>) => (previous ? 5 : 6),
});
