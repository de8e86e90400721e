import { isPlainObject } from '../plain-object.ts';

/**
 * A digest of the content of a value, as a person has seen it: 16 hexadecimal digits, the same on all instances for equal data. The
 * order of fields does not matter, but in very large objects; that of elements does. Each object is looked at once, so that nested, shared and cyclic ones take a
 * time that grows with their number. An object whose content can't be seen counts as itself. It tells values apart that differ by
 * accident; it does not protect against forgery. Never throws.
 */
export function contentDigest(value: unknown): string {
  const steps = digestSteps(value);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** This many parts are one step. */
const PARTS_OF_STEP = 1000;

/** The fields of larger objects count in their order: to sort them takes too long. */
const MOST_SORTED = 10_000;

/** The same in steps, for large values. */
export function* digestSteps(value: unknown): Generator<undefined, string> {
  const lanes: [number, number] = [0x811c9dc5, 0x41c6ce57];
  const seen = new Map<object, number>();
  const open: unknown[] = [value];
  for (let count = 1; open.length > 0; count++) {
    if (count % PARTS_OF_STEP === 0) yield undefined;
    const part = open.pop();
    const isObject = typeof part === 'object' && part !== null;
    const before = isObject ? seen.get(part) : undefined;
    if (!isObject) add(lanes, `${typeof part} ${Object.is(part, -0) ? '-0' : String(part)}`);
    else if (before !== undefined) add(lanes, `same ${before}`);
    else {
      seen.set(part, seen.size);
      const [kind, parts] = partsOf(part);
      add(lanes, `${kind} ${parts.length}`);
      for (const one of parts) open.push(one);
    }
  }
  return lanes.map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The parts of an object. */
function partsOf(whole: object): readonly [kind: string, parts: readonly unknown[]] {
  try {
    if (Array.isArray(whole)) return ['list', whole];
    if (whole instanceof Map) return ['Map', flat(whole)];
    if (whole instanceof Set) return ['Set', [...whole]];
    if (whole instanceof Date) return ['Date', [whole.getTime()]];
    const kind = whole.constructor?.name;
    const names = Object.keys(whole);
    if (names.length <= MOST_SORTED) names.sort();
    if (names.length > 0 || isPlainObject(whole)) return [`${kind}`, fieldsOf(whole, names)];
  } catch {
    // a getter or a proxy threw
  }
  const id = ids.get(whole) ?? Math.random();
  ids.set(whole, id);
  return ['itself', [id]];
}

function flat(entries: Iterable<readonly [unknown, unknown]>): unknown[] {
  const parts: unknown[] = [];
  for (const [key, value] of entries) parts.push(key, value);
  return parts;
}

function fieldsOf(whole: object, names: readonly string[]): unknown[] {
  const parts: unknown[] = [];
  for (const name of names) parts.push(name, (whole as Record<string, unknown>)[name]);
  return parts;
}

const ids: WeakMap<object, number> = /* @__PURE__ */ new WeakMap();

/** Adds a text with its length, so that no two rows of texts are the same: FNV-1a, and a second lane of another prime. */
function add(lanes: [number, number], text: string): void {
  let [one, two] = lanes;
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : 0x10000 + text.length;
    one = Math.imul(one ^ unit, 0x01000193);
    two = Math.imul(two ^ unit ^ (one >>> 15), 0x85ebca6b);
  }
  lanes[0] = one;
  lanes[1] = two;
}
