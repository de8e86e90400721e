import type { Container } from '../protocol.ts';

/** The step after a visit: into the children of the value, past them, or stop the walk. */
type NextStep = 'into' | 'past' | 'stop';

/** @param isFixed the value is, or is inside, something that cannot be filled in later: a key of a `Map`, a `Set`, … */
type Visit = (value: unknown, isFixed: boolean) => NextStep;

/**
 * Visits a value and everything reachable from it, as the structured clone does. An object is visited once for each
 * time
 * that it occurs.
 *
 * @returns `false` if the walk was stopped.
 */
function walk(value: unknown, visit: Visit, isFixed: boolean = false): boolean {
  const next = visit(value, isFixed);
  if (next === 'stop') return false;
  if (next === 'past' || typeof value !== 'object' || value === null) return true;
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

/** The kind of container that the value can be sent as, entry by entry; `undefined`: it is cloned as a whole. */
export function containerOf(value: object): Container | undefined {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Map) return 'map';
  if (value instanceof Set) return 'set';
  const prototype: unknown = Object.getPrototypeOf(value); // instances of classes may have internal state
  return prototype === Object.prototype || prototype === null ? 'object' : undefined;
}

/** The objects that occur more than once. `undefined`: one of them is in a place that cannot be filled in later. */
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

/** The buffers that can be transferred instead of copied, each once. */
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

/** This many characters or bytes take about as long to receive as one object or number. */
const BYTES_PER_UNIT = 256;

/**
 * An estimate of the time to receive a value, in units. The count stops soon after `most`.
 *
 * @param isKnown whether the object was received before.
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
