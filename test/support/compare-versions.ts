import type { Difference } from '../../src/data/difference.ts';
import type { RefreshingValue } from '../../src/index.ts';
import { engineOf, entryOf } from '../../src/value/lifecycle.ts';
import { versionsOf } from '../../src/value/shared-change.ts';

/** The changes from one version of a value to another, as the console shows them. */
export async function compareVersions<T>(
  value: RefreshingValue<T>,
  before: number,
  after: number,
): Promise<Difference> {
  return versionsOf(engineOf<T>(value), entryOf<T>(value)).compare(before, after);
}
