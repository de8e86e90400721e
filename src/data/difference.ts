import { contentDigest } from './content-digest.ts';
import { deepEqual } from './deep-equal.ts';
import { type IdOf, type Item, itemsOf } from './items.ts';

export type { Item } from './items.ts';

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
 * part, changed or not. The order of a list does not matter. Parts are compared by deep equality.
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
    if (areEqual(change.before, change.after)) unchanged += 1;
    else add(changed, change);
  };
  const items = await itemsOf(before, after, idOf, yields);
  if (items === undefined) {
    compare({ id: undefined, before, after });
    return { added, removed, changed, unchanged };
  }
  const [earlier, later] = items;
  let seen = 0;
  for (const [key, item] of earlier) {
    const other = later.get(key);
    if (other === undefined) add(removed, item);
    else compare({ id: item.id, before: item.value, after: other.value });
    seen += 1;
    if (seen % SLICE === 0) await yields();
  }
  for (const [key, item] of later) {
    if (!earlier.has(key)) add(added, item);
  }
  return { added, removed, changed, unchanged };
}

/** Values that are nested too deeply for the stack are compared by their digests. */
function areEqual(before: unknown, after: unknown): boolean {
  try {
    return deepEqual(before, after);
  } catch {
    return contentDigest(before) === contentDigest(after);
  }
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
