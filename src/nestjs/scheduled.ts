import { locked } from '../decorators/locked.ts';
import { makerOf } from '../decorators/per-instance.ts';
import { checked } from '../option-checks.ts';
import { type LockedMethodOptions, lockedBy } from './decorators.ts';

/** The key under which `@Cron`, `@Interval` and `@Timeout` of `@nestjs/schedule` leave their metadata. */
const SCHEDULER_TYPE = 'SCHEDULER_TYPE';

interface ReflectMetadata {
  getMetadata?(key: string, target: object): unknown;
}

/** Whether a scheduler calls the method, and no decorator of tickless has replaced it. */
export function isUnlockedJob(member: PropertyDescriptor): boolean {
  const { value } = member;
  if (typeof value !== 'function' || makerOf(member) !== undefined) return false;
  return (Reflect as ReflectMetadata).getMetadata?.(SCHEDULER_TYPE, value) !== undefined;
}

/**
 * Replaces a method on one instance by a locked one: the scheduler finds that, if it has not looked before.
 *
 * @throws {TicklessError} `OPTION` for an instance that can not be changed: it is frozen, or a proxy.
 */
export function lockJob(
  instance: object,
  name: string,
  method: PropertyDescriptor,
  options: LockedMethodOptions,
): void {
  const decorate = locked((one) => lockedBy(options, one)) as (...args: unknown[]) => PropertyDescriptor;
  const isReplaced = Reflect.defineProperty(instance, name, decorate(instance, name, method));
  const rule = `must be able to replace ${instance.constructor?.name}.${name} on its instance, which can not be changed (frozen?): give the method @Locked instead`;
  checked('TicklessModule', (checks) => checks.that(isReplaced, 'lockedScheduler', rule, options));
}
