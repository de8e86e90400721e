import { RefreshingValue, type RefreshingValueOptions } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { ManualLoad } from './manual-load.ts';

/** A value of a period of 1 s on a fake clock, whose loads end when the test says so. */
export interface ManualValue {
  readonly clock: FakeClock;
  readonly manual: ManualLoad<string>;
  readonly value: RefreshingValue<string>;
}

/** A value that was never loaded. */
export function manualValue(options: Partial<RefreshingValueOptions<string>> = {}): ManualValue {
  const clock = new FakeClock();
  const manual = new ManualLoad<string>();
  const value = new RefreshingValue<string>({
    name: 'v',
    load: manual.load,
    schedule: 1000,
    clock,
    logger: false,
    ...options,
  });
  return { clock, manual, value };
}

/** The same after its first load, which brought `one`. */
export async function loadedManualValue(
  options: Partial<RefreshingValueOptions<string>> = {},
): Promise<ManualValue> {
  const made = manualValue(options);
  const first = made.value.get();
  made.manual.call(0).resolve('one');
  await first;
  return made;
}
