import type { Accept } from './accept.ts';

/** The `sizeOf` that a guard has itself: functions inherit properties of `Object.prototype` too. */
export function ownSizeOf<T>(guard: Accept<T>): Accept<T>['sizeOf'] {
  return Object.hasOwn(guard, 'sizeOf') ? guard.sizeOf : undefined;
}
