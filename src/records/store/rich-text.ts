import { defaultParseOperations, unflatten } from 'devalue';
import { parseJson } from '../../bounded-json.ts';

/** Digits of a `BigInt`: to read them takes more than a time in proportion to them. */
const MOST_DIGITS = 100_000;

/** Places of arrays and bytes of views that a text need not pay for: a few milliseconds of work. */
const MOST_UNPAID = 1_000_000;
/** A long text pays for that number with each of its characters. */
const PAID_PER_CHARACTER = 16;

/**
 * A value as devalue has written it. A few characters can say an array of four billion holes, or views of one buffer: these have a
 * number of places and bytes that the length of the text bounds.
 *
 * @throws for a text that is not of devalue, or beyond the bounds.
 */
export function decodeRich(text: string): unknown {
  const flat = parseJson(text);
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
export class Unpaid {
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
