import { isObjectPrototype } from '../../plain-object.ts';
import { hasSymbols } from './json-check.ts';

/** Throws for a thing that only says to be of the kind: by `Symbol.toStringTag`, or as a proxy. */
type Proof = (thing: never) => unknown;

const TypedArray = Object.getPrototypeOf(Uint8Array) as Uint8ArrayConstructor;

/** The getter of a property, as calling it on something else throws. */
function getterOf(prototype: object, name: string): Proof {
  const { get } = Object.getOwnPropertyDescriptor(prototype, name) as { get(): unknown };
  return (thing) => get.call(thing);
}

const lengthOfArray = getterOf(TypedArray.prototype, 'length');

/** By their tag, the kinds of which devalue writes the content and nothing else, and proof that a thing is one. */
const PROOFS: ReadonlyMap<string, Proof> = new Map<string, Proof>([
  ['Map', getterOf(Map.prototype, 'size')],
  ['Set', getterOf(Set.prototype, 'size')],
  ['Date', (thing) => Date.prototype.getTime.call(thing)],
  ['RegExp', getterOf(RegExp.prototype, 'source')],
  ['ArrayBuffer', getterOf(ArrayBuffer.prototype, 'byteLength')],
  ['DataView', getterOf(DataView.prototype, 'byteLength')],
  ['Number', (thing) => Number.prototype.valueOf.call(thing)],
  ['String', (thing) => String.prototype.valueOf.call(thing)],
  ['Boolean', (thing) => Boolean.prototype.valueOf.call(thing)],
  ['BigInt', (thing) => BigInt.prototype.valueOf.call(thing)],
  ['URL', (thing) => URL.prototype.toString.call(thing)],
  ['URLSearchParams', (thing) => URLSearchParams.prototype.toString.call(thing)],
]);

/**
 * Whether devalue would give a thing back as another one, without a word: it writes the content of the kinds that it knows
 * by their tag, and gives back the plain kind. An instance of a class that extends one, such as a `Buffer`, would lose its
 * class; a `Map` its further properties; a regular expression its place; a buffer that it can grow.
 *
 * Properties that are not enumerable are left out without being refused, as in JSON, and so are those of an array beside
 * its elements: to find them would take as long as to encode the elements.
 */
export function isChanged(thing: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(thing);
  const isCommon = prototype === Object.prototype && !Array.isArray(thing) && !(Symbol.iterator in thing);
  if (isCommon) return false;
  const tag = tagOf(thing);
  if (tag === 'Object') return extendsNull(prototype);
  if (tag === 'Array') return !Array.isArray(thing) || heightOf(thing) !== 2 || hasSymbols(thing);
  if (tag === 'Arguments') return true;
  if (tag.endsWith('Array'))
    return heightOf(thing) !== 3 || !isProven(lengthOfArray, thing) || hasSymbols(thing);
  const proof = PROOFS.get(tag);
  if (proof === undefined) return heightOf(thing) > 2; // devalue refuses all but those of Temporal
  return heightOf(thing) !== 2 || !isProven(proof, thing) || hasMore(thing, tag);
}

/** More than the content that devalue writes. */
function hasMore(thing: object, tag: string): boolean {
  if (Reflect.ownKeys(thing).length === 0 && tag !== 'ArrayBuffer') return false;
  const { length = 0, lastIndex, resizable } = thing as Partial<Record<string, unknown>>;
  if ((tag === 'RegExp' && lastIndex !== 0) || (tag === 'ArrayBuffer' && resizable === true)) return true;
  const characters = tag === 'String' ? length : 0; // are properties
  return Object.keys(thing).length !== characters || hasSymbols(thing);
}

/** Of a class that extends `null`. Devalue refuses those of other classes by itself, and keeps objects without a prototype. */
function extendsNull(prototype: unknown): boolean {
  return prototype !== null && Object.getPrototypeOf(prototype) === null && !isObjectPrototype(prototype);
}

function isProven(proof: Proof, thing: object): boolean {
  try {
    proof(thing as never);
    return true;
  } catch {
    return false;
  }
}

/** As `Object.prototype.toString` tells it: `'Map'`. */
export function tagOf(thing: unknown): string {
  return Object.prototype.toString.call(thing).slice(8, -1);
}

/** The number of its prototypes; by that and not by identity, as the thing may come from another realm. */
function heightOf(thing: object): number {
  const prototype: unknown = Object.getPrototypeOf(thing);
  return prototype === null ? 0 : 1 + heightOf(prototype as object);
}
