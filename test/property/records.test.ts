import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { SwappedRecords } from '../../src/backends/cas/swapped-records.ts';
import {
  edited,
  foundBy,
  type Instant,
  isExpired,
  rowOf,
  type StoredRecord,
} from '../../src/records/edited.ts';
import type { Answer, Edit, Records } from '../../src/records/records.ts';
import { MemoryTexts, Server } from '../unit/cas/memory-texts.ts';

/** The definition, as a backend of two names. */
class Definition {
  readonly #records: Map<string, StoredRecord> = new Map();

  answer(edit: Edit, now: Instant): Answer {
    const present = this.#records.get(edit.name);
    const isGone = present !== undefined && isExpired(present, now.at - 1); // deleted by the server, after its last millisecond
    const { next, isDone } = edited(isGone ? undefined : present, edit, now);
    if (next === undefined) this.#records.delete(edit.name);
    else this.#records.set(edit.name, next);
    const blank = (): string => '';
    if (edit.op !== 'read')
      return { isDone, row: next && rowOf(next, now, edit.op === 'claim' ? String : blank) };
    const found = foundBy(next, edit);
    const row = found && rowOf(found, now, edit.isBrief ? blank : String);
    return { isDone: found !== undefined, row };
  }
}

const LONG = 'x'.repeat(3500);
const claimed = fc.constantFrom('lock/a', 'lock/b');
const put = fc.constantFrom('snapshot/a', 'snapshot/b');
const name = fc.oneof(claimed, put);
const id = fc.constantFrom('one', 'two');
const forMs = fc.constantFrom(0, 1, 20, 300);
const token = fc.integer({ min: 1, max: 6 });
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const edit = fc.oneof(
  fc.record({
    op: fc.constant('claim' as const),
    name: claimed,
    id,
    text: fc.constantFrom('x', 'y'),
    forMs,
    force: fc.boolean(),
  }),
  fc.record({
    op: fc.constant('amend' as const),
    name: claimed,
    token,
    id: maybe(id),
    phase: maybe(fc.constant('held' as const)),
    note: maybe(fc.constantFrom('done', 'failed')),
    forMs,
    keepMs: maybe(fc.constant(1000)),
  }),
  fc.record({
    op: fc.constant('put' as const),
    name: put,
    token: maybe(token),
    over: maybe(token),
    text: fc.constantFrom('short', LONG),
    keepMs: maybe(fc.constant(1000)),
    older: fc.constant(0),
  }),
  fc.record({
    op: fc.constant('read' as const),
    name,
    newerThan: maybe(token),
    token: maybe(token),
    isBrief: fc.boolean(),
  }),
  fc.record({ op: fc.constant('delete' as const), name }),
);
const step = fc.record({ client: fc.constantFrom(0, 1), edit, passes: fc.constantFrom(0, 1, 25, 400) });

/** Tokens count from the last one of the name down, so that edits meet records. */
function meeting(drawn: Edit, last: number): Edit {
  const near = (one: number | undefined): number | undefined => one && Math.max(1, last + 3 - one);
  if (drawn.op === 'amend') return { ...drawn, token: near(drawn.token) as number };
  if (drawn.op === 'put') return { ...drawn, token: near(drawn.token), over: near(drawn.over) };
  return drawn.op === 'read'
    ? { ...drawn, token: near(drawn.token), newerThan: near(drawn.newerThan) }
    : drawn;
}

it('records that are swapped, by two clients, answer as the definition does', () =>
  fc.assert(
    // Stores that share a backend keep the same number of versions.
    fc.asyncProperty(fc.constantFrom(0, 2), fc.array(step, { maxLength: 25 }), async (older, steps) => {
      const server = new Server();
      const clients: Records[] = [0, 1].map(() => new SwappedRecords(new MemoryTexts(server), Infinity));
      const definition = new Definition();
      const last = new Map<string, number>();
      for (const { client, edit: drawn, passes } of steps) {
        server.now += passes;
        const now = { at: server.now, wall: server.now };
        const met = meeting(drawn, last.get(drawn.name) ?? 3);
        const next = met.op === 'put' ? { ...met, older } : met;
        const expected = definition.answer(next, now);
        const { answers } = await (clients[client] as Records).apply([next]);
        expect(answers).toEqual([expected]);
        if (expected.row !== undefined) last.set(next.name, expected.row.token);
      }
    }),
    { numRuns: 1000 },
  ));
