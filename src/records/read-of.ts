import { ownOptions } from '../option-checks.ts';
import type { Read } from './records.ts';

/** A look at a record, with all fields of its own: one that is left out would be that of `Object.prototype`, where a bug has set it. */
export function readOf(name: string, given: Partial<Read> = {}): Read {
  const { newerThan, token, isBrief } = ownOptions(given);
  return { op: 'read', name, newerThan, token, isBrief };
}
