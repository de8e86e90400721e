import { DevalueError, parse, stringify } from 'devalue';
import { JsonCheck } from './json-check.ts';

/** Marks a text of devalue. No JSON text begins like this. */
const DEVALUE = 'devalue:';

/**
 * A value as JSON if JSON keeps it exactly, else as devalue writes it.
 *
 * @param keepsPrototypes whether an object without a prototype is left to devalue, which keeps it so. @default false
 * @throws {TypeError} for functions, symbols, and instances of classes that devalue does not know.
 */
export function encodeWhole(
  value: unknown,
  showPath?: (path: string) => string,
  keepsPrototypes?: boolean,
): string {
  const check = new JsonCheck(value, keepsPrototypes);
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

/** A value as devalue writes it, with the references within it. @throws {TypeError} as {@link encodeWhole}. */
export function encodeRich(value: unknown, showPath: (path: string) => string): string {
  try {
    return DEVALUE + stringify(value);
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
  return typeof name === 'string' && name !== 'Object' ? `a ${name}` : `this value: ${message}`;
}
