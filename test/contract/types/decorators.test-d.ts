import { expectTypeOf, test } from 'vitest';
import type { LockProvider } from '../../../src/cluster/lock-contract.ts';
import {
  locked,
  lockedTaskOf,
  refreshing,
  refreshingOf,
  requiredMembers,
} from '../../../src/decorators/index.ts';
import type { LockedOutcome, RefreshingValue } from '../../../src/index.ts';

declare const lock: LockProvider;

@requiredMembers
class Service {
  readonly unit = 'm';

  @refreshing<Service>(({ unit }) => ({ name: unit, keyOf: (code: string) => code }))
  async city(code: string, language?: string): Promise<string> {
    return `${code}${language}`;
  }

  @refreshing({ schedule: '10m', initial: 5 })
  get rate(): Promise<number> {
    return Promise.resolve(1);
  }

  @locked({ name: (day: number) => `day ${day}`, lock })
  async report(_day: number): Promise<void> {}

  @locked({ lock })
  async tidy(): Promise<void> {}

  // @ts-expect-error: a call always returns a promise
  @refreshing()
  now(): number {
    return 1;
  }

  // @ts-expect-error: a call always returns a promise
  @refreshing()
  get today(): number {
    return 1;
  }

  // @ts-expect-error: not a method or a getter
  @refreshing()
  field = 1;

  // @ts-expect-error: it has no result where it is not run
  @locked({ name: 'count', lock })
  async count(): Promise<number> {
    return 1;
  }
}

test('what is behind a decorated property has its types', () => {
  const service = new Service();
  const city = refreshingOf(service, 'city');
  expectTypeOf(city.current('1012', 'nl')).toEqualTypeOf<string>();
  expectTypeOf(refreshingOf(service, 'rate').member).toEqualTypeOf<RefreshingValue<number>>();
  expectTypeOf(lockedTaskOf(service, 'report')(5)).toEqualTypeOf<Promise<LockedOutcome<void>>>();
  // @ts-expect-error: codes are strings
  city.current(5);
  // @ts-expect-error: no such property
  refreshingOf(service, 'village');
});
