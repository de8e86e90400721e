import { lateImport } from './late-import.ts';

/** Deep equality for those that may never need it: it is imported when it is first asked for, and there a moment later. */
type DeepEqual = (a: unknown, b: unknown) => boolean;

let deepEqual: DeepEqual | undefined;
let underWay: Promise<void> | undefined;

/** Imports it, once. `undefined`: it is there. Rejects where a bundler has left it out. */
export function importDeepEqual(): Promise<void> | undefined {
  if (deepEqual !== undefined) return undefined;
  underWay ??= lateImport(() => import('./deep-equal.ts'))
    .then((imported) => {
      ({ deepEqual } = imported);
    })
    .finally(() => {
      underWay = undefined;
    });
  return underWay;
}

/** `false` for any two values until it is there. */
export function areDeepEqual(a: unknown, b: unknown): boolean {
  return deepEqual?.(a, b) === true;
}
