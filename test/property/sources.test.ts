import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RefreshingValue } from '../../src/index.ts';
import { firstOf, mergeOf, type Source } from '../../src/sources/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { Editions } from '../support/editions.ts';
import { onEnded } from '../support/events.ts';

// Trees of firstOf and mergeOf over sources with random faults, beside a model that knows where each part of the value in place is from.

type Shape =
  | { readonly kind: 'source'; readonly name: string; readonly hasEdits: boolean }
  | { readonly kind: 'first' | 'merge'; readonly parts: readonly Shape[] };

const { shape } = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record({
      kind: fc.constant('source' as const),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      hasEdits: fc.boolean(),
    }),
    fc.record({
      kind: fc.constantFrom('first' as const, 'merge' as const),
      parts: fc.array(tie('shape'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}));

const tree: fc.Arbitrary<Shape> = fc.record({
  kind: fc.constantFrom('first' as const, 'first' as const, 'merge' as const),
  parts: fc.array(shape, { minLength: 2, maxLength: 3 }),
});

/** The sources that are down, refused or edited before a load, by their names, and the time that passes. */
const step = fc.record({
  down: fc.subarray(['a', 'b', 'c', 'd'], { maxLength: 2 }),
  refused: fc.subarray(['a', 'b', 'c', 'd'], { maxLength: 1 }),
  edited: fc.subarray(['a', 'b', 'c', 'd']),
  pause: fc.constantFrom(10, 10, 10, 400, 999, 1000, 5000),
});
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Where a value is from. */
type Origin =
  | { readonly name: string; readonly edition: number; readonly editedAt: number | undefined }
  | { readonly index: number; readonly inARow: number; readonly of: Origin }
  | { readonly parts: readonly Origin[] };

/** What a tree answers in the model; `undefined`: it fails. */
type Found = { readonly isKept: boolean; readonly origin: Origin; readonly value: unknown } | undefined;

interface World {
  readonly sources: Readonly<Record<string, Editions>>;
  readonly now: Step;
  readonly loadedAt: number;
  /** Of the value in place. */
  readonly age: number;
  /** The age from which an older edition of a backup may replace it. */
  readonly limit: number;
}

function editOf(origin: Origin): number | undefined {
  if ('name' in origin) return origin.editedAt;
  if ('of' in origin) return editOf(origin.of);
  const edits = origin.parts.map(editOf);
  return edits.includes(undefined) ? undefined : Math.max(...(edits as number[]));
}

function expected(shape: Shape, placed: Origin | undefined, world: World): Found {
  if (shape.kind === 'source') {
    const { name, hasEdits } = shape;
    if (world.now.down.includes(name)) return undefined;
    const { edition, editedAt } = world.sources[name] as Editions;
    const isKept = placed !== undefined && 'name' in placed && placed.edition === edition;
    const origin = { name, edition, editedAt: hasEdits ? editedAt : undefined };
    return { isKept, origin: isKept ? placed : origin, value: `${name} ${edition}` };
  }
  const { parts } = shape;
  if (shape.kind === 'merge') {
    const before = placed !== undefined && 'parts' in placed ? placed.parts : [];
    const found = parts.map((part, index) => expected(part, before[index], world));
    if (found.includes(undefined)) return undefined;
    const all = found as NonNullable<Found>[];
    return {
      isKept: all.every(({ isKept }) => isKept),
      origin: { parts: all.map(({ origin }) => origin) },
      value: Object.fromEntries(all.map(({ value }, index) => [`p${index}`, value])),
    };
  }
  const before = placed !== undefined && 'of' in placed ? placed : undefined;
  for (const [index, part] of parts.entries()) {
    const found = expected(part, before?.index === index ? before.of : undefined, world);
    if (found === undefined) continue;
    if (!found.isKept && isRefused(found, index, before, world)) continue;
    const inARow = index === 0 ? 0 : (before?.inARow ?? 0) + 1;
    return { ...found, origin: { index, inARow, of: found.origin } };
  }
  return undefined;
}

function isRefused(
  { origin, value }: NonNullable<Found>,
  index: number,
  before: Extract<Origin, { of: Origin }> | undefined,
  { now, loadedAt, age, limit }: World,
): boolean {
  if (!accepts(value, now)) return true;
  if (before === undefined || before.index >= index || age >= limit) return false;
  const edit = editOf(origin);
  return edit === undefined || edit < (editOf(before.of) ?? loadedAt);
}

/** The guard of each firstOf: refuses values of some sources that are not inside of others. */
const accepts = (value: unknown, { refused }: Step): boolean =>
  typeof value !== 'string' || !refused.includes(value.slice(0, 1));

function build(
  shape: Shape,
  sources: World['sources'],
  now: () => Step,
  clock: FakeClock,
  { allowOlderAfter }: Limits,
): Source<unknown> {
  if (shape.kind === 'source') {
    const { source } = sources[shape.name] as Editions;
    if (shape.hasEdits) return source as Source<unknown>;
    return async (context) => {
      const answer = (await source(context)) as { loadedOptions?: { meta?: { editedAt?: number } } };
      delete answer.loadedOptions?.meta?.editedAt;
      return answer as never;
    };
  }
  const parts = shape.parts.map((part) => build(part, sources, now, clock, { allowOlderAfter } as Limits));
  if (shape.kind === 'merge')
    return mergeOf(Object.fromEntries(parts.map((part, index) => [`p${index}`, part])));
  const [first, ...others] = parts as [Source<unknown>, ...Source<unknown>[]];
  return firstOf<unknown>(first, ...others, {
    accept: (value) => accepts(value, now()),
    allowOlderAfter,
    clock,
  });
}

/** Where a value is from, as its notes tell. */
function notedOrigin(shape: Shape, meta: Record<string, unknown>): unknown {
  if (shape.kind === 'source') return { name: meta.source, edition: meta.edition };
  if (shape.kind === 'merge') {
    const notes = meta.mergeOf as Record<string, Record<string, unknown>>;
    return { parts: shape.parts.map((part, index) => notedOrigin(part, notes[`p${index}`] ?? {})) };
  }
  const { index, inARow = 0, inner } = meta.firstOf as { index: number; inARow?: number; inner?: unknown };
  const own = { ...meta, firstOf: inner };
  return { index, inARow, of: notedOrigin(shape.parts[index] as Shape, own) };
}

function withoutEdits(origin: Origin): unknown {
  if ('name' in origin) return { name: origin.name, edition: origin.edition };
  if ('parts' in origin) return { parts: origin.parts.map(withoutEdits) };
  return { ...origin, of: withoutEdits(origin.of) };
}

/** Of the member, and of each `firstOf`. */
const limits = fc.record({
  schedule: fc.constantFrom(1000, 5000, Infinity),
  maxStaleness: fc.constantFrom(undefined, undefined, 1500),
  allowOlderAfter: fc.constantFrom(undefined, undefined, undefined, 0, 1000, Infinity),
});
type Limits = typeof limits extends fc.Arbitrary<infer L> ? L : never;

/** Has a value that is kept, a load that fails, and a backup that may replace an older value: however few runs there are. */
const ofEachKind: [Shape, Limits, Step[]] = [
  { kind: 'first', parts: ['a', 'b'].map((name) => ({ kind: 'source', name, hasEdits: false })) },
  { schedule: 1000, maxStaleness: undefined, allowOlderAfter: undefined },
  [
    { down: [], refused: [], edited: [], pause: 10 },
    { down: [], refused: [], edited: [], pause: 10 },
    { down: ['a', 'b'], refused: [], edited: [], pause: 10 },
    { down: ['a'], refused: [], edited: [], pause: 5000 },
  ],
];

it('trees of firstOf and mergeOf answer as a model of them, whatever fails', async () => {
  let [failures, backups, kept, older] = [0, 0, 0, 0];
  const property = fc.asyncProperty(
    tree,
    limits,
    fc.array(step, { minLength: 1, maxLength: 8 }),
    async (root, given, steps) => {
      const clock = new FakeClock({ now: 1_000_000 });
      const names = ['a', 'b', 'c', 'd'];
      const sources = Object.fromEntries(names.map((name, index) => [name, new Editions(name, index)]));
      let now = steps[0] as Step;
      const load = build(root, sources, () => now, clock, given);
      const { allowOlderAfter } = given;
      const { schedule } = given;
      // A limit must be beyond the period.
      const { maxStaleness } = given.schedule === 5000 ? { maxStaleness: undefined } : given;
      const aged = maxStaleness === undefined ? {} : { maxStaleness };
      const limit = allowOlderAfter ?? maxStaleness ?? given.schedule;
      const common = { name: 'tree', retry: false, logger: false, clock } as const;
      const member = new RefreshingValue<unknown>({ ...common, load, schedule, ...aged });
      let placed: Origin | undefined;
      let value: unknown;
      let loadedAt = 0;
      for (now of steps) {
        await clock.advance(now.pause);
        for (const name of names) {
          const one = sources[name] as Editions;
          if (now.down.includes(name)) one.down(new Error('down'));
          else one.up();
          if (!now.edited.includes(name)) continue;
          one.edition += 1;
          one.editedAt = clock.now() - one.edition; // sometimes before that of another one
        }
        let isKept = false;
        const end = onEnded(member, 'kept', () => (isKept = true));
        const answer = await member.refresh().then(
          (value) => ({ value }),
          () => undefined,
        );
        end();
        const found = expected(root, placed, { sources, now, loadedAt, age: clock.now() - loadedAt, limit });
        if (found !== undefined && limit < Infinity) {
          const strict = expected(root, placed, { sources, now, loadedAt, age: 0, limit: Infinity });
          older += Number(JSON.stringify(strict) !== JSON.stringify(found));
        }
        expect(answer).toEqual(found && { value: found.value });
        if (found !== undefined) {
          ({ value, origin: placed } = found);
          loadedAt = clock.now();
          expect(isKept).toBe(found.isKept);
          kept += Number(isKept);
          expect(notedOrigin(root, member.inspect().meta ?? {})).toEqual(withoutEdits(placed));
          if ('index' in placed && placed.index > 0) backups += 1;
        } else failures += 1;
        expect(member.peek()).toEqual(value); // a failed load leaves it
      }
    },
  );
  await fc.assert(property, { numRuns: 300, examples: [ofEachKind] });
  for (const count of [failures, backups, kept, older]) expect(count).toBeGreaterThan(0);
});
