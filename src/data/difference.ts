import { deepEqual } from './deep-equal.ts';
import { type IdOf, itemsOf } from './items.ts';

/** A part of a value that only one of two editions has. */
export interface Item {
  /** The key of a Map or an object, the member of a Set, the id of a record. */
  readonly id: unknown;
  readonly value: unknown;
}

/** A part that both editions have, and that differs. */
export interface ChangedItem {
  /** As of {@link Item}; `undefined` where the values were compared as wholes. */
  readonly id: unknown;
  readonly before: unknown;
  readonly after: unknown;
}

/** How many there are, and the first of them. */
export interface Samples<Sample> {
  readonly count: number;
  readonly samples: readonly Sample[];
}

/** The changes from one edition of a value to another. */
export interface Difference {
  readonly added: Samples<Item>;
  readonly removed: Samples<Item>;
  readonly changed: Samples<ChangedItem>;
  /** How many parts are deeply equal in both. */
  readonly unchanged: number;
}

/** At most as many samples of each kind, in the order of the editions. */
const MOST_SAMPLES = 20;

/** Equality of this many items is one slice of work. */
const SLICE = 256;

/**
 * The changes from one edition to another, part by part where both have parts ({@link itemsOf}); else as wholes: one
 * part, changed or not. Parts are compared by deep equality.
 *
 * @param yields is awaited between slices of the work.
 * @throws what `idOf` throws.
 */
export async function differenceOf(
  before: unknown,
  after: unknown,
  idOf?: IdOf,
  yields: () => Promise<void> = async () => {},
): Promise<Difference> {
  const added: Collected<Item> = { count: 0, samples: [] };
  const removed: Collected<Item> = { count: 0, samples: [] };
  const changed: Collected<ChangedItem> = { count: 0, samples: [] };
  let unchanged = 0;
  const compare = (change: ChangedItem): void => {
    if (deepEqual(change.before, change.after)) unchanged += 1;
    else add(changed, change);
  };
  const earlier = itemsOf(before, idOf);
  const later = itemsOf(after, idOf);
  if (earlier === undefined || later === undefined) {
    compare({ id: undefined, before, after });
    return { added, removed, changed, unchanged };
  }
  let seen = 0;
  for (const [id, value] of earlier) {
    if (!later.has(id)) add(removed, { id, value });
    else compare({ id, before: value, after: later.get(id) });
    seen += 1;
    if (seen % SLICE === 0) await yields();
  }
  for (const [id, value] of later) {
    if (!earlier.has(id)) add(added, { id, value });
  }
  return { added, removed, changed, unchanged };
}

/** Samples that are being collected. */
interface Collected<Sample> extends Samples<Sample> {
  count: number;
  readonly samples: Sample[];
}

function add<Sample>(to: Collected<Sample>, sample: Sample): void {
  to.count += 1;
  if (to.samples.length < MOST_SAMPLES) to.samples.push(sample);
}
