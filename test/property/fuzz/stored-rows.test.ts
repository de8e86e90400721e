import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { cron, dailyAt } from '../../../src/calendar/index.ts';
import type { StoredSnapshot } from '../../../src/cluster/store-contract.ts';
import { httpFreshness, type ScheduleLike } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { isOutcome } from '../../support/events.ts';
import { storeOf } from '../../support/parts.ts';
import { sealed } from '../../support/sealed-snapshot.ts';
import { expectReadable, expectUnpolluted, hostileJson, hostileValue } from './support/hostile.ts';
import { runs } from './support/runs.ts';
import { heldBy, keyedReadOf, LOADED, type Read, readOf, rowOf, StubBackend } from './support/stored.ts';

// Snapshots with impossible metadata and a valid checksum, and rows that hold anything.

afterEach(expectUnpolluted);

const STORED = 'held';
const BODY = JSON.stringify(STORED);

const schedules: readonly ScheduleLike[] = [
  1000,
  Number.POSITIVE_INFINITY,
  dailyAt('05:00', { zone: 'Europe/Amsterdam' }),
  cron('0 5 30 2 *', { zone: 'UTC' }),
  cron('*/5 * * * *', { zone: 'UTC' }),
  httpFreshness(),
];

/** The snapshot is valid or ignored, and the instance continues. */
async function expectSane({ value, lines, member, clock }: Read): Promise<void> {
  expect([STORED, LOADED]).toContain(value);
  for (const line of lines) expectReadable(line);
  for (const step of [0, 1000, 3_600_000, -86_400_000, 3_600_000]) {
    if (step < 0) clock.stepWall(step);
    else await clock.advance(step);
    const { age, nextExecuteTime, loadedAt } = member.inspect();
    expect(age).toBeGreaterThanOrEqual(0);
    expect(nextExecuteTime).not.toBeNaN();
    expect(loadedAt).not.toBeNaN();
    expect([STORED, LOADED]).toContain(await member.get());
    await clock.flush();
  }
  expect(await member.refresh()).toBe(LOADED);
  expect(member.inspect()).toMatchObject({ value: LOADED, age: 0, lastError: undefined });
}

const field = fc.constantFrom(
  ...[
    'tickless',
    'format',
    'isBase64',
    'isAbsent',
    'age',
    'dueIn',
    'isDueSaid',
    'took',
    'maxStaleness',
    'tags',
    'length',
  ],
);

/** Default age limit of a snapshot, in milliseconds. */
const USUAL_LIMIT = 60_000;

/** An envelope as it is read from the store, after a pass through JSON. */
function envelopeOf(change: object): Record<string, unknown> {
  const sound = { tickless: 1, format: 'json', dueIn: 1000, took: 1, length: BODY.length };
  return JSON.parse(JSON.stringify({ ...sound, ...change }));
}

const isDuration = (ms: unknown): boolean => typeof ms === 'number' && ms >= 0;
const isFlag = (flag: unknown): boolean => flag === undefined || flag === true;

/** By the description of the format, independent of the code. */
function isSound(envelope: Record<string, unknown>): boolean {
  const { tickless, format, isBase64, isAbsent, age = 0, dueIn, took, maxStaleness = null } = envelope;
  const { tags = [], length } = envelope;
  const isOfNumbers =
    tickless === 1 &&
    isDuration(age) &&
    isDuration(took) &&
    (dueIn === null || typeof dueIn === 'number') && // it may be due already
    (maxStaleness === null || (isDuration(maxStaleness) && maxStaleness !== 0));
  const areTags = Array.isArray(tags) && tags.every((tag) => typeof tag === 'string');
  // The body is text, not base64; only a key may be absent, not a value.
  const isOfThisBody = length === BODY.length && !isBase64 && isFlag(isAbsent) && isAbsent !== true;
  return isOfNumbers && areTags && format === 'json' && isOfThisBody;
}

/** A valid one that is not served: it spent 10 ms in the store as well. */
function isTooOld({ age = 0, maxStaleness }: Record<string, unknown>): boolean {
  return (
    (age as number) + 10 > Math.min(USUAL_LIMIT, (maxStaleness as number | null | undefined) ?? Infinity)
  );
}

describe('an envelope', () => {
  it('of which a field holds anything: the read returns the stored value or a loaded one', async () => {
    const around = fc.constantFrom(0, 59_989, 59_990, 59_991, 70_000);
    const fields = fc.oneof(
      { weight: 4, arbitrary: fc.dictionary(field, hostileJson, { minKeys: 1, maxKeys: 3 }) },
      {
        weight: 1,
        arbitrary: fc.record(
          { age: around, maxStaleness: fc.oneof(fc.constant(null), fc.constantFrom(1, 60_000, 80_000)) },
          { requiredKeys: ['age'] },
        ),
      },
    );
    const listening = fc.boolean();
    await fc.assert(
      fc.asyncProperty(
        fields,
        fc.constantFrom(...schedules),
        listening,
        async (change, schedule, listens) => {
          const held = heldBy(new StubBackend(rowOf(sealed(change, BODY))));
          const read = await readOf(held, listens, { schedule, maxStaleness: USUAL_LIMIT });
          const isReported = listens
            ? read.events.some(isOutcome('refused'))
            : read.lines.some((line) => line.includes('snapshot')); // or warns that the schedule is late
          const envelope = envelopeOf(change);
          expect(isReported).toBe(!isSound(envelope));
          expect(read.value).toBe(isSound(envelope) && !isTooOld(envelope) ? STORED : LOADED);
          await expectSane(read);
        },
      ),
      runs(500),
    );
  });

  it('of another version or format is rejected in a readable line', async () => {
    const logged = async (change: object): Promise<string | undefined> =>
      (await readOf(heldBy(new StubBackend(rowOf(sealed(change, BODY)))), false)).lines[0];
    for (const version of [0, 2, -1, 1.5, 1e308]) {
      expect(await logged({ tickless: version })).toContain(`it is of version ${version} of the envelope`);
    }
    for (const version of [undefined, null, '1', [1], { valueOf: 1 }]) {
      expect(await logged({ tickless: version })).toContain('it is not a snapshot of tickless');
    }
    const evil = `x\u001b[2J\n${'long'.repeat(1e6)}`;
    const line = (await logged({ format: evil })) as string;
    expect(line).toContain('it is of the format "x\\u001b[2J\\nlong');
    expectReadable(line);
  });

  it('of a key, with hostile tags: the cache continues', async () => {
    const tags = fc.oneof(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor'))),
      hostileJson,
    );
    await fc.assert(
      fc.asyncProperty(tags, async (given) => {
        const { value, cache, clock } = await keyedReadOf(
          heldBy(new StubBackend(rowOf(sealed({ tags: given }, BODY)))),
        );
        const areTags = Array.isArray(given) && given.every((tag) => typeof tag === 'string');
        expect(value).toBe(areTags ? STORED : LOADED);
        for (const tag of areTags ? given : ['__proto__']) cache.invalidateTag(tag as string);
        const isInvalidated = areTags && given.length > 0;
        cache.current('k');
        await clock.flush();
        expect(cache.current('k')).toBe(areTags && !isInvalidated ? STORED : LOADED);
      }),
      runs(200),
    );
  });
});

describe('a row', () => {
  const row = fc.record({
    version: fc.oneof(fc.constant<unknown>(5), hostileValue),
    age: fc.oneof(fc.constant<unknown>(10), hostileValue),
    payload: fc.oneof(fc.constant<unknown>(sealed({}, BODY)), hostileValue),
  });

  it('with any contents: the stored value, or a loaded one and the reason in the log', async () => {
    await fc.assert(
      fc.asyncProperty(row, fc.constantFrom(...schedules), async (given, schedule) => {
        const held = given as unknown as StoredSnapshot;
        const read = await readOf(heldBy(new StubBackend(held)), false, { schedule });
        const { version, age, payload } = held;
        const isAge = Number.isFinite(age) && age >= -60_000; // beyond that the backend's clock was set back
        const isSound = Number.isSafeInteger(version) && isAge && payload === sealed({}, BODY);
        expect(read.value).toBe(isSound && version > 0 ? STORED : LOADED);
        const isNone = Number.isSafeInteger(version) && version <= 0; // as if it were older than none
        if (!isSound && !isNone)
          expect(read.lines[0]).toMatch(/^warn tickless: v: snapshot of version -?\d+ rejected: /);
        await expectSane(read);
      }),
      runs(500),
    );
  });

  it('names the damaged column', async () => {
    for (const [change, words] of [
      [{ version: Number.NaN }, 'its record is damaged: the version in it is NaN'],
      [{ version: 2 ** 60 }, 'its record is damaged: the version in it is 1152921504606847000'],
      [{ age: Number.NaN }, 'its record is damaged: the age in it is NaN'],
      [{ payload: null }, 'its record is damaged: the payload in it is null'],
    ] as const) {
      const open = heldBy(new StubBackend({ ...rowOf(sealed({}, BODY)), ...change } as StoredSnapshot));
      const { version } = change as { version?: number };
      const shown = version === undefined ? 5 : 0;
      expect(await storeOf(open(new FakeClock())).read('v')).toMatchObject({
        version: shown,
        payload: '',
        damage: words,
      });
      expect((await readOf(open, false)).lines[0]).toContain(words);
    }
  });

  it('without a valid version after a write: logged, and the value is served', async () => {
    await fc.assert(
      fc.asyncProperty(hostileValue, async (version) => {
        const engine = new StubBackend(undefined);
        engine.write = async () => ({ kind: 'written', version: version as number });
        const { value, lines } = await readOf(heldBy(engine), false);
        expect(value).toBe(LOADED);
        if (Number.isSafeInteger(version)) return;
        expect(lines).toHaveLength(1);
        expect(lines[0]).toContain("the snapshot of v can't be written: its record has the version ");
        expectReadable(lines[0] as string);
      }),
      runs(200),
    );
  });
});
