import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { edited, foundBy, type Instant, rowOf, type StoredRecord } from '../../src/records/edited.ts';
import { placeOf } from '../../src/records/names.ts';
import type { Answer, Edit, Records } from '../../src/records/records.ts';
import { MemoryTexts, Server, swappedIn } from '../unit/cas/memory-texts.ts';

/** The definition, as a backend of two names. */
class Definition {
  readonly #cells: Map<string, Cell> = new Map();
  /** The last version that a put of each client was given. */
  readonly #marked: Map<number, number> = new Map();

  /** @param edits of one name. */
  answers(client: number, edits: readonly Edit[], now: Instant): Answer[] {
    const { cell } = placeOf((edits[0] as Edit).name);
    const kept = this.#cells.get(cell);
    const before = kept === undefined || kept.until < now.at ? new Map() : kept.records; // deleted by the server
    const after = new Map(before);
    const changes = edits.filter(({ op }) => op !== 'read');
    const shown = new Map<Edit, StoredRecord>();
    const areDone = changes.map((edit) => {
      const [, beside] = [...after].find(([name]) => name !== edit.name) ?? [];
      const made = edited(before.get(edit.name), edit, now, beside, this.#marked.get(client));
      const { next, isDone } = made;
      if (made.shown !== undefined) shown.set(edit, made.shown);
      if (next === undefined) after.delete(edit.name);
      else after.set(edit.name, next);
      return isDone;
    });
    const isMade = !areDone.includes(false);
    const records = isMade ? after : before;
    const isChanged = changes.some(({ name }) => records.get(name) !== before.get(name));
    if (isChanged) this.#cells.set(cell, { records, until: now.at + keptFor(records, now) });
    for (const edit of isMade ? changes : []) {
      const given = edit.op === 'put' && edit.token === undefined ? (records.get(edit.name)?.token ?? 0) : 0;
      this.#marked.set(client, Math.max(this.#marked.get(client) ?? 0, given));
    }
    return edits.map((edit) => {
      const record = shown.get(edit) ?? records.get(edit.name);
      if (edit.op !== 'read')
        return { isDone: isMade, row: record && rowOf(record, now, edit.op === 'claim' ? String : blank) };
      const found = foundBy(record, edit);
      const isBrief = edit.isBrief || (isMade && changes.length > 0);
      return { isDone: found !== undefined, row: found && rowOf(found, now, isBrief ? blank : String) };
    });
  }
}

type Parts = ReadonlyMap<string, StoredRecord>;

/** The lock and the snapshot of a name. */
interface Cell {
  readonly records: Parts;
  readonly until: number;
}

/** As long as the one that is kept longest. */
function keptFor(records: Parts, { at }: Instant): number {
  const times = [...records.values()].map(
    ({ until, pinnedUntil = 0, keepMs = Infinity }) => Math.max(0, until - at, pinnedUntil - at) + keepMs,
  );
  return Math.max(0, ...times);
}

const blank = (): string => '';

const LONG = 'x'.repeat(3500);
const id = fc.constantFrom('one', 'two');
const forMs = fc.constantFrom(0, 1, 20, 300);
const token = fc.integer({ min: 1, max: 6 });
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const readOf = (name: string) =>
  fc.record({
    op: fc.constant('read' as const),
    name: fc.constant(name),
    newerThan: maybe(token),
    token: maybe(token),
    isBrief: fc.boolean(),
  });
const deleteOf = (name: string) => fc.record({ op: fc.constant('delete' as const), name: fc.constant(name) });
const lockEdit = (name: string) =>
  fc.oneof(
    fc.record({
      op: fc.constant('claim' as const),
      name: fc.constant(name),
      id,
      text: fc.constantFrom('x', 'y'),
      forMs,
      force: fc.boolean(),
    }),
    fc.record({
      op: fc.constant('amend' as const),
      name: fc.constant(name),
      token,
      id: maybe(id),
      phase: maybe(fc.constant('held' as const)),
      note: maybe(fc.constantFrom('done', 'failed')),
      forMs,
      keepMs: maybe(fc.constant(1000)),
    }),
    readOf(name),
    deleteOf(name),
  );
const snapshotEdit = (name: string) =>
  fc.oneof(
    fc.record({
      op: fc.constant('put' as const),
      name: fc.constant(name),
      token: maybe(token),
      over: maybe(token),
      text: fc.constantFrom('short', LONG),
      keepMs: maybe(fc.constant(1000)),
      older: fc.constant(0),
    }),
    readOf(name),
    deleteOf(name),
  );
/** A change of a person. */
const changeOf = (name: string) =>
  fc.tuple(
    fc.record({
      op: fc.constant('put' as const),
      name: fc.constant(`snapshot/${name}`),
      text: fc.constantFrom('short', LONG),
      older: fc.constant(0),
      id,
      expected: maybe(token),
      sparesPinned: fc.boolean(),
      pinMs: maybe(forMs),
    }),
    fc.record({
      op: fc.constant('impose' as const),
      name: fc.constant(`lock/${name}`),
      id,
      text: fc.constant('x'),
      note: fc.constant('done'),
      forMs,
    }),
  );
/** One of a name, or one of each of its parts, in any order. */
const edits: fc.Arbitrary<readonly Edit[]> = fc.constantFrom('a', 'b').chain((name) => {
  const [lock, snapshot] = [lockEdit(`lock/${name}`), snapshotEdit(`snapshot/${name}`)];
  return fc.oneof(
    fc.tuple(lock),
    fc.tuple(snapshot),
    fc.tuple(lock, snapshot),
    fc.tuple(snapshot, lock),
    changeOf(name),
  );
});
const step = fc.record({ client: fc.constantFrom(0, 1), edits, passes: fc.constantFrom(0, 1, 25, 400) });

/** Tokens count from the last one of the name down, so that edits meet records. */
function meeting(drawn: Edit, last: number): Edit {
  const near = (one: number | undefined): number | undefined => one && Math.max(1, last + 3 - one);
  if (drawn.op === 'amend') return { ...drawn, token: near(drawn.token) as number };
  if (drawn.op === 'put') {
    const { token, over, expected } = drawn;
    return { ...drawn, token: near(token), over: near(over), expected: near(expected) };
  }
  return drawn.op === 'read'
    ? { ...drawn, token: near(drawn.token), newerThan: near(drawn.newerThan) }
    : drawn;
}

it('records that are swapped, by two clients, answer as the definition does', () =>
  fc.assert(
    // Stores that share a backend keep the same number of versions.
    fc.asyncProperty(fc.constantFrom(0, 2), fc.array(step, { maxLength: 25 }), async (older, steps) => {
      const server = new Server();
      const clients: Records[] = [0, 1].map(() => swappedIn(new MemoryTexts(server)));
      const definition = new Definition();
      const last = new Map<string, number>();
      for (const { client, edits: drawn, passes } of steps) {
        server.now += passes;
        const now = { at: server.now, wall: server.now };
        const next = drawn.map((edit) => {
          const met = meeting(edit, last.get(edit.name) ?? 3);
          // Each client writes texts of its own: the same one, of the same moment, would be taken for a repetition.
          const own = 'text' in met ? { ...met, text: `${client}${met.text}` } : met;
          return own.op === 'put' ? { ...own, older } : own;
        });
        const expected = definition.answers(client, next, now);
        const { answers } = await (clients[client] as Records).apply(next);
        expect(answers).toEqual(expected);
        for (const [i, { row }] of expected.entries())
          if (row !== undefined) last.set((next[i] as Edit).name, row.token);
      }
    }),
    { numRuns: 1000 },
  ));
