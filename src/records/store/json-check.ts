import { MOST_DEPTH } from '../../bounded-json.ts';
import { isObjectPrototype } from '../../plain-object.ts';

/** No text can be as long; objects that occur often can multiply without end. */
const MOST_VISITS = 2 ** 29;

/** This many characters take as long as one object or number. */
const CHARACTERS_PER_VISIT = 256;

type Holder = Readonly<Record<string | number, unknown>>;

/** An object, and how many of its values have been checked. */
interface Frame {
  readonly holder: Holder;
  /** `undefined` for an array. */
  readonly keys: readonly string[] | undefined;
  readonly size: number;
  at: number;
}

/**
 * Checks whether JSON keeps a value exactly, so that decoding gives the same value again. It does not for a `Map`, a
 * `Date`, an instance of a class, an object without a prototype, one with symbols as keys, `NaN`, -0, `undefined`. Properties
 * of an array beside its elements are left out, and so are those that are not enumerable.
 *
 * The check can be made in slices; the value must not change meanwhile.
 */
export class JsonCheck {
  readonly #frames: Frame[];
  #visits = 0;
  #isExact = true;
  #depth = 0;

  constructor(value: unknown) {
    this.#frames = [{ holder: { 0: value }, keys: undefined, size: 1, at: 0 }];
  }

  /** So far; final once {@link run} has returned `true`. */
  get isExact(): boolean {
    return this.#isExact;
  }

  /** How many objects are nested in one another, so far. */
  get depth(): number {
    return this.#depth;
  }

  /**
   * Goes on with the check.
   *
   * @param visits about how many objects and primitive values to look at.
   * @returns whether the check is over.
   */
  run(visits: number): boolean {
    const end = this.#visits + visits;
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const inner = this.#firstObject(frame, end);
      if (!this.#isExact) return true;
      if (inner !== undefined) this.#open(inner);
      else if (frame.at === frame.size) this.#frames.pop();
      if (this.#visits >= end && this.#frames.length > 0) return false;
    }
    return true;
  }

  /** Checks values of a frame up to the first object, which it returns, or to the end of the slice. */
  #firstObject(frame: Frame, end: number): object | undefined {
    const { holder, keys, size } = frame;
    let { at } = frame;
    let visits = this.#visits;
    let found: object | undefined;
    while (at < size && found === undefined && visits < end) {
      const value = keys === undefined ? holder[at] : holder[keys[at] as string];
      at += 1;
      visits += 1;
      if (typeof value === 'string') visits += value.length / CHARACTERS_PER_VISIT;
      else if (typeof value === 'object' && value !== null) found = value;
      else if (!isKept(value)) {
        this.#isExact = false;
        break; // an array may have four billion holes
      }
    }
    frame.at = at;
    this.#visits = visits;
    return found;
  }

  #open(value: object): void {
    const isTooLarge = this.#frames.length > MOST_DEPTH || this.#visits > MOST_VISITS;
    // Symbols that are not enumerable tell the arguments of a function from an object.
    if (isTooLarge || Object.getOwnPropertySymbols(value).length > 0 || !isPlain(value) || hasToJson(value)) {
      this.#isExact = false;
      this.#frames.length = 0;
      return;
    }
    this.#depth = Math.max(this.#depth, this.#frames.length);
    const holder = value as Holder;
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    this.#frames.push({ holder, keys, size: keys?.length ?? (value as readonly unknown[]).length, at: 0 });
  }
}

/** @param value no object, no string. */
function isKept(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return value === null || typeof value === 'boolean';
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value)) return prototype !== null && isObjectPrototype(prototype);
  // `Array.prototype`, of any realm, is an array; that of a class which extends it is not.
  return Array.isArray(prototype) && isObjectPrototype(Object.getPrototypeOf(prototype));
}

/** It has properties with symbols as keys; those that are not enumerable do not count, as nowhere. */
export function hasSymbols(value: object): boolean {
  const symbols = Object.getOwnPropertySymbols(value);
  return symbols.length > 0 && symbols.some((key) => Object.prototype.propertyIsEnumerable.call(value, key));
}

/** JSON.stringify would call it, also one that `Object.keys` leaves out. */
function hasToJson(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function';
}
