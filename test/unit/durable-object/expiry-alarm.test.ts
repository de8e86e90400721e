import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ExpiryAlarm } from '../../../src/backends/durable-object/expiry-alarm.ts';

const NOW = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The alarm of an object, which has one or none. */
class Storage {
  readonly set: number[] = [];
  asked = 0;
  readonly sql: never = undefined as never;
  readonly #at: number | null;

  constructor(at: number | null = null) {
    this.#at = at;
  }

  async getAlarm(): Promise<number | null> {
    this.asked += 1;
    return this.#at;
  }

  async setAlarm(at: number): Promise<void> {
    this.set.push(at);
  }
}

it('is set for what expires first, and asked for once', async () => {
  const storage = new Storage();
  const alarm = new ExpiryAlarm(storage);
  await alarm.setBy(Infinity);
  expect(storage.asked).toBe(0);
  for (const at of [NOW + 5000, NOW + 9000, NOW + 3000, Infinity]) await alarm.setBy(at);
  expect(storage).toMatchObject({ asked: 1, set: [NOW + 5000, NOW + 3000] });
});

it('is the earlier one of two steps at a time', async () => {
  const storage = new Storage();
  const alarm = new ExpiryAlarm(storage);
  await Promise.all([alarm.setBy(NOW + 5000), alarm.setBy(NOW + 9000)]);
  expect(storage.set).toEqual([NOW + 5000]);
});

it('of an object that was started again is left where it is', async () => {
  const storage = new Storage(NOW + 1000);
  const alarm = new ExpiryAlarm(storage);
  await alarm.setBy(NOW + 2000);
  expect(storage.set).toEqual([]);
  await alarm.setBy(NOW + 500);
  expect(storage.set).toEqual([NOW + 500]);
});

it('goes off once in ten minutes at most, whatever expires', async () => {
  const storage = new Storage();
  const alarm = new ExpiryAlarm(storage);
  await alarm.setBy(NOW);
  await alarm.wentOff(NOW + 1000);
  await alarm.setBy(NOW + 500);
  expect(storage.set).toEqual([NOW, NOW + 10 * MINUTE_MS]);
  vi.setSystemTime(NOW + 10 * MINUTE_MS);
  await alarm.wentOff(NOW + 60 * MINUTE_MS);
  expect(storage.set.at(-1)).toBe(NOW + 60 * MINUTE_MS);
});

it('is not set again where nothing expires', async () => {
  const storage = new Storage();
  const alarm = new ExpiryAlarm(storage);
  await alarm.setBy(NOW);
  await alarm.wentOff(undefined);
  expect(storage.set).toEqual([NOW]);
});
