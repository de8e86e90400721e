import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { LockProvider } from '../../../src/cluster/lock-contract.ts';
import { RefreshingValue } from '../../../src/index.ts';
import { asLock } from '../../../src/records/lock/as-lock.ts';
import type { Records, Row } from '../../../src/records/records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { hostileValue as anything, expectReadable, expectUnpolluted } from './support/hostile.ts';
import { answered, lockOf } from './support/locks.ts';
import { runs } from './support/runs.ts';

// Rows of edited records from a backend's client, and answers of foreign locks.

afterEach(expectUnpolluted);

/** Our adapters convert the values of their clients to numbers. */
const hostileValue = anything.filter((value) => typeof value !== 'bigint');

const WALL = Date.UTC(2026, 10, 20, 12);
const NAME = 'n';

/** A value over that lock continues, whatever the answers: it loads, and logs the reason. */
async function expectServing(
  lock: LockProvider,
  isDown: (lines: readonly string[]) => boolean,
): Promise<void> {
  const clock = new FakeClock({ now: WALL });
  const logger = recordLines();
  let loads = 0;
  const load = async (): Promise<number> => ++loads;
  const value = new RefreshingValue({
    name: 'v',
    load,
    schedule: 1000,
    retry: false,
    timeout: 500,
    clock,
    logger,
    lock,
  });
  const first = await Promise.race([
    value.get().catch((error: Error) => error),
    clock.advance(700).then(() => 'later'),
  ]);
  if (isDown(logger.lines)) expect(first).toBe(1);
  await clock.advance(5000);
  const last = value.get().catch(() => {});
  await clock.advance(700);
  await last;
  const { age, nextExecuteTime } = value.inspect();
  if (age !== undefined) expect(age).toBeGreaterThanOrEqual(0);
  expect(nextExecuteTime).not.toBeNaN();
  expect(loads).toBeLessThan(10);
  for (const line of logger.lines) expectReadable(line);
  const closed = value.close({ timeout: 0 });
  await clock.advance(5000);
  await closed;
}

/** A second definition of a valid answer, independent of the code. */
function isReadable(given: unknown): boolean {
  const isSpan = (one: unknown): boolean => typeof one === 'number' && one >= 0 && Number.isFinite(one);
  const { kind, retryAfter, heldFor, finishedAgo, lease } = (given ?? {}) as Record<string, unknown>;
  if (kind === 'held') return isSpan(retryAfter) && isSpan(heldFor);
  if (kind === 'done') return isSpan(retryAfter) && isSpan(finishedAgo);
  return kind === 'acquired' && isSpan((lease as { remaining?: unknown } | undefined)?.remaining);
}

describe('a row that holds anything', () => {
  const row = fc.record({
    token: fc.oneof(fc.constant<unknown>(5), hostileValue),
    id: fc.oneof(fc.constant<unknown>('r'), hostileValue),
    phase: fc.oneof(fc.constantFrom<unknown>('leased', 'seized', 'held'), hostileValue),
    text: fc.oneof(fc.constant<unknown>('{"owner":"o","host":"h"}'), fc.json(), hostileValue),
    note: fc.oneof(
      fc.constantFrom<unknown>('', '{"state":"done"}', '{"state":"failed"}'),
      fc.json(),
      hostileValue,
    ),
    age: fc.oneof(fc.constant<unknown>(10), hostileValue),
    changedAgo: fc.oneof(fc.constant<unknown>(10), hostileValue),
    left: fc.oneof(fc.constantFrom<unknown>(0, 500), hostileValue),
    now: fc.oneof(fc.constant<unknown>(WALL), hostileValue),
  });

  function backendOf(given: unknown): Records {
    const { now, ...row } = (given ?? {}) as Row & { readonly now: number };
    return {
      mostEdits: 1,
      sharesCommands: false,
      apply: async (edits) => ({
        now,
        answers: edits.map(({ op }) => ({ isDone: op === 'claim', row: row as Row })),
      }),
      list: async () => ({ now, rows: [[`lock/${NAME}`, row as Row]] }),
      editions: async () => [],
    };
  }

  it('is an answer in numbers, or rejected as damaged', async () => {
    await fc.assert(
      fc.asyncProperty(row, async (given) => {
        const lock = lockOf(backendOf(given));
        const answer = await answered(lock.acquire({ name: NAME, requestId: 'mine' }));
        if (answer === undefined || answer.kind === 'acquired') return;
        const ago = answer.kind === 'held' ? answer.heldFor : answer.finishedAgo;
        for (const ms of [answer.retryAfter, ago, answer.now]) expect(Number.isFinite(ms)).toBe(true);
        expect(answer.retryAfter).toBeGreaterThan(0);
        expect(ago).toBeGreaterThanOrEqual(0);
      }),
      runs(1500),
    );
  });

  it('under a value: it continues', async () => {
    await fc.assert(
      fc.asyncProperty(row, async (given) => {
        const isUnavailable = (lines: readonly string[]): boolean =>
          lines.some((line) => line.startsWith('warn tickless: v: lock unavailable, loading without it: '));
        await expectServing(lockOf(backendOf(given)), isUnavailable);
      }),
      runs(150),
    );
  });

  it('of a lock without createLock: it continues', async () => {
    const answer = fc.oneof(
      hostileValue,
      fc.dictionary(
        fc.constantFrom('kind', 'retryAfter', 'heldFor', 'finishedAgo', 'now', 'lease', 'token'),
        hostileValue,
      ),
      fc.record({
        kind: fc.constantFrom('held', 'done'),
        retryAfter: hostileValue,
        heldFor: hostileValue,
        finishedAgo: hostileValue,
      }),
      fc.record({
        kind: fc.constant('acquired'),
        lease: fc.record({ token: hostileValue, remaining: hostileValue }),
        now: hostileValue,
      }),
    );
    await fc.assert(
      fc.asyncProperty(answer, async (given) => {
        const lock = {
          ...lockOf(backendOf(undefined)),
          leaseFor: 3000,
          acquire: async () => given,
        } as unknown as LockProvider;
        await expectServing(
          asLock({ ...lock, release: async () => true, extend: async () => true }),
          () => !isReadable(given),
        );
      }),
      runs(150),
    );
  });
});
