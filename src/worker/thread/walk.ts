import type { Container } from '../protocol.ts';

/** What to do after a visit: go into what hangs on it, pass it over, or end the walk. */
type Then = 'into' | 'past' | 'stop';

/** @param isFixed it is, or hangs on, something that can't be put in later: a key of a `Map`, an element of a `Set`, … */
type Visit = (value: unknown, isFixed: boolean) => Then;

/**
 * Visits a value and all that hangs on it, as the structured clone does: an object again each time that it is met.
 *
 * @returns `false`: it was ended.
 */
function walk(value: unknown, visit: Visit, isFixed: boolean = false): boolean {
  const then = visit(value, isFixed);
  if (then === 'stop') return false;
  if (then === 'past' || typeof value !== 'object' || value === null) return true;
  if (value instanceof Map) {
    for (const [key, one] of value) if (!walk(key, visit, true) || !walk(one, visit, isFixed)) return false;
    return true;
  }
  if (ArrayBuffer.isView(value)) return walk(value.buffer, visit, true);
  const isInnerFixed = isFixed || containerOf(value) === undefined || value instanceof Set;
  for (const one of value instanceof Set ? value : Object.values(value)) {
    if (!walk(one, visit, isInnerFixed)) return false;
  }
  return true;
}

/** What it can be built as, entry by entry; `undefined`: it is cloned as a whole. */
export function containerOf(value: object): Container | undefined {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Map) return 'map';
  if (value instanceof Set) return 'set';
  const prototype: unknown = Object.getPrototypeOf(value); // an instance of a class may be one of Node's own
  return prototype === Object.prototype || prototype === null ? 'object' : undefined;
}

/** The objects that are met twice or more. `undefined`: one of them is in a place where it can't be put in later. */
export function sharedIn(value: unknown): Set<object> | undefined {
  const seen = new Set<object>();
  const fixed = new Set<object>();
  const shared = new Set<object>();
  const isWhole = walk(value, (one, isFixed) => {
    if (typeof one !== 'object' || one === null) return 'past';
    if (isFixed) fixed.add(one);
    if (!seen.has(one)) {
      seen.add(one);
      return 'into';
    }
    if (fixed.has(one)) return 'stop';
    shared.add(one);
    return 'past';
  });
  return isWhole ? shared : undefined;
}

/** The buffers that can be handed over instead of copied, each once. */
export function buffersIn(value: unknown): ArrayBuffer[] {
  const seen = new Set<unknown>();
  const buffers: ArrayBuffer[] = [];
  walk(value, (one) => {
    if (typeof one !== 'object' || one === null || seen.has(one)) return 'past';
    seen.add(one);
    if (one instanceof ArrayBuffer) buffers.push(one);
    return 'into';
  });
  return buffers;
}

/** So many characters or bytes take about as long to receive as one object or number. */
const BYTES_PER_UNIT = 256;

/**
 * How long it takes to receive a value, in units, roughly; counted up to `most` and not much further.
 *
 * @param isKnown what has been received already.
 */
export function weightOf(
  value: unknown,
  most: number,
  isKnown: (value: unknown) => boolean = () => false,
): number {
  let weight = 0;
  walk(value, (one) => {
    weight += 1;
    if (typeof one === 'string') weight += one.length / BYTES_PER_UNIT;
    if (isKnown(one)) return 'past';
    return weight < most ? 'into' : 'stop';
  });
  return weight;
}
