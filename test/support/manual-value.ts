import { RefreshingValue, type ValueOptions } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { ManualLoad } from './manual-load.ts';

/** A value on a fake clock. */
export interface FakeValue<T> {
  readonly clock: FakeClock;
  readonly value: RefreshingValue<T>;
}

/** A value of the default schedule, with one try per execution, that was never loaded. */
export function fakeValue<T>(
  load: ValueOptions<T>['load'],
  options: Partial<ValueOptions<T>> = {},
): FakeValue<T> {
  const clock = (options.clock as FakeClock | undefined) ?? new FakeClock();
  const all = {
    name: 'v',
    load,
    logger: false,
    retry: false,
    ...options,
    clock,
  } as ValueOptions<T>;
  return { clock, value: new RefreshingValue<T>(all) };
}

/** A value whose loads end when the test says so. */
export interface ManualValue extends FakeValue<string> {
  readonly manual: ManualLoad<string>;
}

/** A value of a period of 1 s, that was never loaded. */
export function manualValue(options: Partial<ValueOptions<string>> = {}): ManualValue {
  const manual = new ManualLoad<string>();
  return { manual, ...fakeValue(manual.load, { schedule: 1000, ...options }) };
}

/** The same after its first load, which brought `one`. */
export async function loadedManualValue(options: Partial<ValueOptions<string>> = {}): Promise<ManualValue> {
  const made = manualValue(options);
  const first = made.value.get();
  made.manual.call(0).resolve('one');
  await first;
  return made;
}
