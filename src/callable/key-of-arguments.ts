import { optionError } from '../option-error.ts';
import { isPlainObject } from '../plain-object.ts';

/** Bounds of arguments with a text: how deep they may be, and how many values they may have inside. */
const MOST_DEEP = 100;
const MOST_VALUES = 100_000;

/**
 * The identity of a call: the same for equal arguments, different for all others. One string, number, bigint or boolean is
 * its own; others become a text that looks like the call: `("1012",{"lang":"nl"})`. An `undefined` at the end counts as
 * left out, 0 and -0 are the same, and so are plain objects with and without a prototype.
 *
 * @throws {TicklessError} `OPTION` for an argument that has no text: a symbol, a function, an instance of a class other than `Date`, an
 *   object or array with properties that a text would leave out, one that contains itself, is deeper than 100 levels or has
 *   more than 100,000 values, and one that can't be read: its getter throws.
 */
export function keyOfArguments(name: string, args: readonly unknown[]): string | number | bigint | boolean {
  const given = args.at(-1) === undefined ? withoutEnd(args) : args;
  const [only] = given;
  if (given.length === 1) {
    if (typeof only === 'string' && !only.startsWith('(')) return only;
    if (typeof only === 'number' || typeof only === 'bigint' || typeof only === 'boolean') return only;
  }
  const texts = new Texts();
  return `(${given.map((argument) => textIn(texts, name, argument, args)).join(',')})`;
}

function withoutEnd(args: readonly unknown[]): readonly unknown[] {
  return args.slice(0, args.findLastIndex((argument) => argument !== undefined) + 1);
}

function textIn(texts: Texts, name: string, argument: unknown, args: readonly unknown[]): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = texts.of(argument, 0);
  } catch (error) {
    cause = error; // of a getter, or of a proxy
  }
  return text ?? refuse(name, argument, args, cause);
}

/** The texts of the arguments of one call. */
class Texts {
  #count = 0;
  /** Those that the present one is inside. */
  readonly #around: Set<unknown> = new Set();

  /** `undefined`: it has none. */
  of(value: unknown, depth: number): string | undefined {
    this.#count += 1;
    if (this.#count > MOST_VALUES || depth > MOST_DEEP) return undefined;
    if (typeof value === 'string') return JSON.stringify(value);
    if (typeof value === 'bigint') return `${value}n`;
    if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return String(value);
    if (typeof value !== 'object' || this.#around.has(value)) return undefined;
    this.#around.add(value);
    const text = this.#ofObject(value, depth + 1);
    this.#around.delete(value);
    return text;
  }

  #ofObject(value: object, depth: number): string | undefined {
    const prototype: unknown = Object.getPrototypeOf(value);
    const own = Reflect.ownKeys(value);
    if (prototype === Date.prototype)
      return own.length === 0 ? `Date(${Date.prototype.getTime.call(value)})` : undefined;
    if (Array.isArray(value)) {
      // The prototype of arrays, of any realm, is an array; that of a class which extends it is not. The key `length` comes
      // after the indexes and before further properties.
      const isWhole =
        Array.isArray(prototype) && own.length === value.length + 1 && own[value.length] === 'length';
      return isWhole ? this.#joined('[', value, (item) => this.of(item, depth), ']') : undefined;
    }
    if (!isPlainObject(value)) return undefined;
    const fields = Object.keys(value).sort();
    if (fields.length !== own.length) return undefined; // symbols, and what is not enumerable
    const ofField = (field: string): string | undefined => {
      const text = this.of(value[field], depth);
      return text && `${JSON.stringify(field)}:${text}`;
    };
    return this.#joined('{', fields, ofField, '}');
  }

  #joined<I>(
    open: string,
    items: readonly I[],
    textOf: (item: I) => string | undefined,
    close: string,
  ): string | undefined {
    const texts: string[] = [];
    for (const item of items) {
      const text = textOf(item);
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return `${open}${texts.join(',')}${close}`;
  }
}

function refuse(name: string, received: unknown, key: readonly unknown[], cause: unknown): never {
  const rule =
    'must be given for arguments other than primitives, dates, and plain objects and arrays of them';
  throw optionError([{ option: 'keyOf', rule, received }], { member: name, key, cause });
}
