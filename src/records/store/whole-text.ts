import { parseJson } from '../../bounded-json.ts';
import { JsonCheck } from './json-check.ts';
import { decodeRich, encodeRich, isRich } from './rich-text.ts';

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

/** @throws for a text that is neither. */
export function decodeWhole(text: string): unknown {
  // devalue refuses `__proto__` as a key, JSON.parse makes a property of it like any other.
  return isRich(text) ? decodeRich(text) : parseJson(text);
}
