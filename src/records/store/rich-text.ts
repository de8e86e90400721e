import {
  DevalueError,
  defaultParseOperations,
  defaultStringifyOperations,
  stringify,
  unflatten,
} from 'devalue';
import { parseJson } from '../../bounded-json.ts';
import { isChanged, tagOf } from './exact-kind.ts';
import { hasSymbols } from './json-check.ts';

/** Marks a text of devalue. No JSON text begins like this. */
const DEVALUE = 'devalue:';

/** Digits of a `BigInt`: to read them takes more than a time in proportion to them. */
const MOST_DIGITS = 100_000;

/** Places of arrays and bytes of views that a text need not pay for: a few milliseconds of work. */
const MOST_UNPAID = 1_000_000;
/** A long text pays for that number with each of its characters. */
const PAID_PER_CHARACTER = 16;

/** Devalue asks this of each object before all else, and refuses those with the answer yes. */
const isThenable = (thing: object): boolean =>
  isChanged(thing) || defaultStringifyOperations.isThenable(thing);

/** A value as devalue writes it, with the references within it. @throws {TypeError} as `encodeWhole`. */
export function encodeRich(value: unknown, showPath: (path: string) => string): string {
  const unpaid = new Unpaid();
  const operations = {
    isThenable,
    indicesOf: (array: unknown[]): string[] => {
      unpaid.add(array.length); // of one that has holes
      return defaultStringifyOperations.indicesOf(array);
    },
    viewInfo: (view: ArrayBufferView): ReturnType<typeof defaultStringifyOperations.viewInfo> => {
      unpaid.add(view.byteLength);
      return defaultStringifyOperations.viewInfo(view);
    },
  };
  try {
    const text = DEVALUE + stringify(value, undefined, { operations });
    unpaid.check(text);
    return text;
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const at = error.path === '' ? '' : ` (at ${showPath(error.path)})`;
    throw new TypeError(`the default codec can't keep ${kindOf(error)}${at}; give the store a codec`);
  }
}

/** {@link encodeRich} has written it. */
export function isRich(text: string): boolean {
  return text.startsWith(DEVALUE);
}

/**
 * A value as devalue has written it. A few characters can say an array of four billion holes, or views of one buffer: these have a
 * number of places and bytes that the length of the text bounds.
 *
 * @throws for a text that is not of devalue, or beyond the bounds.
 */
export function decodeRich(text: string): unknown {
  const flat = parseJson(text.slice(DEVALUE.length));
  if (Array.isArray(flat)) flat.forEach(checkDigits);
  const unpaid = new Unpaid();
  return unflatten(flat as unknown[], undefined, {
    operations: {
      createSparseArray(length) {
        unpaid.add(length);
        unpaid.check(text);
        return defaultParseOperations.createSparseArray(length);
      },
      fromViewInfo(...info) {
        const view = defaultParseOperations.fromViewInfo(...info) as ArrayBufferView;
        unpaid.add(view.byteLength);
        unpaid.check(text);
        return view;
      },
    },
  });
}

function checkDigits(one: unknown): void {
  const isLong = Array.isArray(one) && one[0] === 'BigInt' && String(one[1]).length > MOST_DIGITS;
  if (isLong) throw new RangeError(`a BigInt has more than ${MOST_DIGITS} digits`);
}

/** Counts the places of sparse arrays and the bytes of typed arrays, for which a text of devalue has no characters. */
class Unpaid {
  #count = 0;

  add(count: number): void {
    this.#count += count;
  }

  /** @throws {RangeError} where they are too many for the text. */
  check({ length }: string): void {
    if (this.#count <= MOST_UNPAID + length * PAID_PER_CHARACTER) return;
    throw new RangeError(
      `${this.#count} places in sparse or typed arrays are too many for ${length} characters`,
    );
  }
}

function kindOf({ value, message }: DevalueError): string {
  if (typeof value !== 'object' || value === null) return `a ${typeof value}`;
  const tag = tagOf(value);
  const name: unknown = value.constructor?.name;
  const isOfClass = typeof name === 'string' && name !== 'Object' && name !== 'Array';
  // Any class is refused as such, with symbols as keys or without (Node puts some into promises that it follows).
  if (isOfClass && name !== tag) return withArticle(name);
  if (!isOfClass && hasSymbols(value)) return 'a symbol as a key';
  if (isChanged(value)) return `${withArticle(tag)} that would come back changed`;
  return isOfClass ? withArticle(name) : `a value of this kind: ${message}`;
}

function withArticle(name: string): string {
  return `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name}`;
}
