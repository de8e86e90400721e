import { OptionError } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';

/**
 * The identity of a call: the same for equal arguments, different for all others. One string, number, bigint or boolean is
 * its own; others become a text that looks like the call: `("1012",{"lang":"nl"})`. An `undefined` at the end counts as
 * left out.
 *
 * @throws {OptionError} for an argument that has no text: a symbol, a function, an instance of a class other than `Date`.
 */
export function keyOfArguments(name: string, args: readonly unknown[]): string | number | bigint | boolean {
  const given = args.at(-1) === undefined ? withoutEnd(args) : args;
  const [only] = given;
  if (given.length === 1) {
    if (typeof only === 'string' && !only.startsWith('(')) return only;
    if (typeof only === 'number' || typeof only === 'bigint' || typeof only === 'boolean') return only;
  }
  return `(${given.map((argument) => textOf(argument) ?? refuse(name, argument, args)).join(',')})`;
}

function withoutEnd(args: readonly unknown[]): readonly unknown[] {
  return args.slice(0, args.findLastIndex((argument) => argument !== undefined) + 1);
}

/** `undefined`: it has none. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || ['number', 'boolean', 'undefined'].includes(typeof value)) return String(value);
  if (value instanceof Date) return `Date(${value.getTime()})`;
  if (Array.isArray(value)) return joined('[', value.map(textOf), ']');
  if (!isPlainObject(value)) return undefined;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  const texts = fields.map(([field, held]) => {
    const text = textOf(held);
    return text && `${JSON.stringify(field)}:${text}`;
  });
  return joined('{', texts, '}');
}

function joined(open: string, texts: (string | undefined)[], close: string): string | undefined {
  return texts.includes(undefined) ? undefined : `${open}${texts.join(',')}${close}`;
}

function refuse(name: string, received: unknown, key: readonly unknown[]): never {
  const rule =
    'must be given for arguments other than primitives, dates, and plain objects and arrays of them';
  throw new OptionError([{ option: 'keyOf', rule, received }], { cacheName: name, key });
}
