import { DevalueError, defaultStringifyOperations, stringify } from 'devalue';
import { parseJson } from '../../bounded-json.ts';
import { isChanged, tagOf } from './exact-kind.ts';
import { hasSymbols, JsonCheck } from './json-check.ts';
import { decodeRich, Unpaid } from './rich-text.ts';

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

/** Devalue asks this of each object before all else, and refuses those with the answer yes. */
const isThenable = (thing: object): boolean =>
  isChanged(thing) || defaultStringifyOperations.isThenable(thing);

/** A value as devalue writes it, with the references within it. @throws {TypeError} as {@link encodeWhole}. */
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

/** @throws for a text that is neither. */
export function decodeWhole(text: string): unknown {
  // devalue refuses `__proto__` as a key, JSON.parse makes a property of it like any other.
  return text.startsWith(DEVALUE) ? decodeRich(text.slice(DEVALUE.length)) : parseJson(text);
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
