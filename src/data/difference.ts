import { showKey } from '../errors.ts';
import { contentDigest } from './content-digest.ts';
import { deepEqual } from './deep-equal.ts';
import type { IdOf } from './id-of.ts';
import { areWider, type Item, itemsOf, MOST_LEVELS } from './items.ts';

/** A part that both editions have, and that differs. */
interface ChangedItem {
  /** As of {@link Item}; `undefined` where the values were compared as wholes. */
  readonly id: unknown;
  readonly before: unknown;
  readonly after: unknown;
}

/** How many there are, and the first of them. */
interface Samples<Sample> {
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
 * part, changed or not. The order of a list does not matter. Parts are compared by deep equality; an entry that has more parts than
 * the whole, such as the `rates` of `{ base, rates }`, by its own parts.
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
  const difference = {
    added: none<Item>(),
    removed: none<Item>(),
    changed: none<ChangedItem>(),
    unchanged: 0,
  };
  await collect(difference, before, after, idOf, yields);
  return difference;
}

/** A difference that is being collected. */
interface Collected {
  readonly added: Collection<Item>;
  readonly removed: Collection<Item>;
  readonly changed: Collection<ChangedItem>;
  unchanged: number;
}

/** @param path the names of the parts that the two are within. */
async function collect(
  into: Collected,
  before: unknown,
  after: unknown,
  idOf: IdOf | undefined,
  yields: () => Promise<void>,
  path: readonly unknown[] = [],
): Promise<void> {
  const idIn = (id: unknown): unknown => (path.length === 0 ? id : nameOf([...path, id]));
  const compare = (change: ChangedItem): void => {
    if (areEqual(change.before, change.after)) into.unchanged += 1;
    else add(into.changed, change);
  };
  const items = await itemsOf(before, after, idOf, yields);
  if (items === undefined)
    return compare({ id: path.length === 0 ? undefined : nameOf(path), before, after });
  const { earlier, later, areEntries } = items;
  let seen = 0;
  for (const [key, { id, value }] of earlier) {
    const other = later.get(key);
    if (other === undefined) add(into.removed, { id: idIn(id), value });
    else if (areEntries && path.length < MOST_LEVELS && areWider(value, other.value, items))
      await collect(into, value, other.value, idOf, yields, [...path, id]);
    else compare({ id: idIn(id), before: value, after: other.value });
    seen += 1;
    if (seen % SLICE === 0) await yields();
  }
  for (const [key, { id, value }] of later) {
    if (!earlier.has(key)) add(into.added, { id: idIn(id), value });
    seen += 1;
    if (seen % SLICE === 0) await yields();
  }
}

/** For people: `rates.USD`. */
function nameOf(path: readonly unknown[]): string {
  return path
    .map((id) => (typeof id === 'object' || typeof id === 'function' ? showKey(id) : String(id)))
    .join('.');
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
interface Collection<Sample> extends Samples<Sample> {
  count: number;
  readonly samples: Sample[];
}

function none<Sample>(): Collection<Sample> {
  return { count: 0, samples: [] };
}

function add<Sample>(to: Collection<Sample>, sample: Sample): void {
  to.count += 1;
  if (to.samples.length < MOST_SAMPLES) to.samples.push(sample);
}
