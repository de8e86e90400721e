import type { Container } from './chunk.ts';

/** The step after a visit: into the children of the value, past them, or stop the walk. */
type NextStep = 'into' | 'past' | 'stop';

type Visit = (value: unknown) => NextStep;

/**
 * Visits a value and everything reachable from it, as the structured clone does. An object is visited once for each time
 * that it occurs.
 *
 * @returns `false` if the walk was stopped.
 */
function walk(value: unknown, visit: Visit): boolean {
  const next = visit(value);
  if (next === 'stop') return false;
  if (next === 'past' || typeof value !== 'object' || value === null) return true;
  if (value instanceof Map) {
    for (const [key, one] of value) if (!walk(key, visit) || !walk(one, visit)) return false;
    return true;
  }
  if (ArrayBuffer.isView(value)) return walk(value.buffer, visit);
  if (value instanceof Set || Array.isArray(value)) {
    for (const one of value instanceof Set ? value : Object.values(value))
      if (!walk(one, visit)) return false;
    return true;
  }
  // The values of an object with very many keys take twice as long as the keys.
  for (const key of Object.keys(value)) {
    if (!walk((value as Record<string, unknown>)[key], visit)) return false;
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

/** How many objects and primitive values a search visits between two pauses: about a millisecond. */
const VISITS = 16_384;

/**
 * Deeper values are not split: to split a container its content is weighed, up to the weight of a chunk, once for each level
 * above it. At this depth splitting takes some ten times as long as encoding at once; and far deeper ones would overflow
 * the stack.
 */
export const MOST_DEPTH = 200;

/** The children of an object, as far as they have been visited. */
interface Frame {
  readonly values: readonly unknown[];
  readonly isFixed: boolean;
  at: number;
}

/**
 * Finds the objects that occur more than once; pauses now and then, as a generator.
 *
 * @param mayBeSplit whether a value with this object in it may be split at all. @default any
 * @returns `undefined`: one of them is in a place that cannot be filled in later, the value is nested too deeply, or it
 *   may not be split.
 */
export function* searchShared(
  value: unknown,
  mayBeSplit: (one: object) => boolean = () => true,
): Generator<undefined, ReadonlySet<object> | undefined> {
  const seen = new Set<object>();
  const fixed = new Set<object>();
  const shared = new Set<object>();
  const frames: Frame[] = [{ values: [value], isFixed: false, at: 0 }];
  let visits = 0;
  for (let frame = frames.at(-1); frame !== undefined; frame = frames.at(-1)) {
    if (frame.at === frame.values.length) {
      frames.pop();
      continue;
    }
    const one = frame.values[frame.at];
    frame.at += 1;
    visits += 1;
    if (visits % VISITS === 0) yield;
    if (typeof one !== 'object' || one === null) continue;
    if (frame.isFixed) fixed.add(one);
    if (!seen.has(one)) {
      seen.add(one);
      if (frames.length > MOST_DEPTH || !mayBeSplit(one)) return undefined;
      frames.push(...childrenOf(one, frame.isFixed));
    } else if (fixed.has(one)) return undefined;
    else shared.add(one);
  }
  return shared;
}

function childrenOf(value: object, isFixed: boolean): Frame[] {
  if (value instanceof Map) {
    const keys = { values: [...value.keys()], isFixed: true, at: 0 };
    return [keys, { values: [...value.values()], isFixed, at: 0 }];
  }
  if (ArrayBuffer.isView(value)) return [{ values: [value.buffer], isFixed: true, at: 0 }];
  if (value instanceof Set) return [{ values: [...value], isFixed: true, at: 0 }];
  const isInnerFixed = isFixed || containerOf(value) === undefined;
  return [{ values: Object.values(value), isFixed: isInnerFixed, at: 0 }];
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
    if (weight + sizeOf(one) < most) return 'into';
    weight += sizeOf(one);
    return 'stop';
  });
  return weight;
}

/** The number of entries of a container, where it is known at once; else 0. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return value instanceof Map || value instanceof Set ? value.size : 0;
}
