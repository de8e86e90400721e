import { DevalueError, defaultStringifyOperations, parse, stringify } from 'devalue';
import { hasSymbols, JsonCheck } from './json-check.ts';

/** Marks a text of devalue. No JSON text begins like this. */
const DEVALUE = 'devalue:';

/**
 * A value as JSON if JSON keeps it exactly, else as devalue writes it.
 *
 * @throws {TypeError} for functions, symbols, also as keys, a `Buffer`, and instances of classes that devalue does not know.
 */
export function encodeWhole(value: unknown, showPath?: (path: string) => string): string {
  const check = new JsonCheck(value);
  check.run(Infinity);
  return encodeChecked(value, check, showPath);
}

/**
 * @param check of the value; it is over.
 * @param showPath shows where in the value something is that can't be kept.
 */
export function encodeChecked(
  value: unknown,
  { isExact }: JsonCheck,
  showPath: (path: string) => string = (path) => path,
): string {
  if (isExact) {
    try {
      return JSON.stringify(value);
    } catch {
      // nested too deeply for the stack
    }
  }
  return encodeRich(value, showPath);
}

/** A tag that devalue does not know, and so refuses: of things that it would change without a word. */
const CHANGED = 'changed';
const operations = {
  tagOf: (thing: object): string => (isChanged(thing) ? CHANGED : defaultStringifyOperations.tagOf(thing)),
};

/**
 * An instance of a class that extends a known one, such as `Buffer` or `class Rows extends Map`, would be one of that; an
 * array would lose its symbols.
 */
export function isChanged(thing: object): boolean {
  if (Array.isArray(thing) && hasSymbols(thing)) return true;
  return heightOf(thing) > (ArrayBuffer.isView(thing) && !(thing instanceof DataView) ? 3 : 2);
}

/** The number of its prototypes; by that and not by identity, as the thing may come from another realm. */
function heightOf(thing: object): number {
  const prototype: unknown = Object.getPrototypeOf(thing);
  return prototype === null ? 0 : 1 + heightOf(prototype as object);
}

/** A value as devalue writes it, with the references within it. @throws {TypeError} as {@link encodeWhole}. */
export function encodeRich(value: unknown, showPath: (path: string) => string): string {
  try {
    return DEVALUE + stringify(value, undefined, { operations });
  } catch (error) {
    if (!(error instanceof DevalueError)) throw error;
    const at = error.path === '' ? '' : ` (at ${showPath(error.path)})`;
    throw new TypeError(`the default codec can't keep ${kindOf(error)}${at}; give the store a codec`);
  }
}

/** @throws for a text that is neither. */
export function decodeWhole(text: string): unknown {
  // devalue refuses `__proto__` as a key, JSON.parse makes a property of it like any other.
  return text.startsWith(DEVALUE) ? parse(text.slice(DEVALUE.length)) : JSON.parse(text);
}

function kindOf({ value, message }: DevalueError): string {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  const name: unknown = Object(value).constructor?.name;
  // Any other class is refused as such, with symbols as keys or without (Node puts some into promises that it follows).
  const isCommon = typeof name !== 'string' || name === 'Object' || name === 'Array';
  if (!isCommon) return `a ${name}`;
  return hasSymbols(Object(value)) ? 'a symbol as a key' : `this value: ${message}`;
}
