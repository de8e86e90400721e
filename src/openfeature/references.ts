import { showKey } from '../errors.ts';
import { isPlainObject } from '../plain-object.ts';

/** Objects and arrays that come of references: the evaluator takes a second or two to compile as many. */
const MOST_PARTS = 100_000;

/**
 * Replaces `{ "$ref": "name" }` in rules by the part of that name. The evaluator would do it too, without a bound: twenty parts, each with
 * two references to the next one, are a million.
 */
export class References {
  readonly #named: Readonly<Record<string, unknown>>;
  readonly #open = new Set<object | string>();
  /** How many named parts are open. */
  #depth = 0;
  #parts = 0;

  /** @param $evaluators the parts of rules with a name. */
  constructor($evaluators: unknown) {
    this.#named = isPlainObject($evaluators) ? $evaluators : {};
  }

  /** @throws {Error} for parts that refer to each other in a circle, and for too many. */
  replacedIn(rule: unknown): unknown {
    if (typeof rule !== 'object' || rule === null) return rule;
    const name = this.#nameIn(rule);
    if (name !== undefined) return this.#within(name);
    if (this.#depth > 0) this.#parts += 1;
    if (this.#parts > MOST_PARTS)
      throw new Error(`what $ref refers to has more than ${MOST_PARTS} objects and arrays in all`);
    return this.#within(rule);
  }

  #nameIn(rule: object): string | undefined {
    if (Array.isArray(rule)) return undefined;
    const [first, ...others] = Object.entries(rule);
    if (first === undefined || others.length > 0 || first[0] !== '$ref') return undefined;
    const name: unknown = first[1];
    return typeof name === 'string' && Object.hasOwn(this.#named, name) ? name : undefined;
  }

  /** @param holder an object, or the name of a part. */
  #within(holder: object | string): unknown {
    if (this.#open.has(holder))
      throw new TypeError(`Converting circular structure: ${showKey(holder)} contains itself`);
    this.#open.add(holder);
    const whole = typeof holder === 'string' ? this.#partNamed(holder) : this.#partsOf(holder);
    this.#open.delete(holder);
    return whole;
  }

  #partNamed(name: string): unknown {
    this.#depth += 1;
    const part = this.replacedIn(this.#named[name]);
    this.#depth -= 1;
    return part;
  }

  #partsOf(rule: object): unknown {
    if (Array.isArray(rule)) return rule.map((part) => this.replacedIn(part));
    return Object.fromEntries(Object.entries(rule).map(([field, part]) => [field, this.replacedIn(part)]));
  }
}
