// Records and snapshots that were edited, or written by a clock that was years ahead.
import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { memoryRecords } from '../../../src/records/memory-records.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { partsOn } from '../../support/parts.ts';

const DAY = 86_400_000;

function cluster() {
  const clock = new FakeClock();
  const records = memoryRecords(clock, () => clock.now());
  const kind = { options: [], clock };
  const backend = partsOn(records, {}, kind);
  let loads = 0;
  const load = async (): Promise<string> => `load ${++loads}`;
  const instance = () => {
    const logger = recordLines();
    const value = new RefreshingValue({ name: 'v', load, schedule: 60_000, clock, backend, logger });
    return { value, lines: logger.lines };
  };
  return { clock, store: backend.store, instance };
}

/** What a new instance serves, after those before it have published. */
async function servedByAnother({ clock, instance }: ReturnType<typeof cluster>): Promise<unknown> {
  await clock.flush();
  return instance().value.get();
}

describe('a snapshot of a later version than the next token', () => {
  const ahead: [string, number][] = [
    ['a month ahead', 30 * DAY],
    ['two years ahead', 730 * DAY],
  ];
  it.each(ahead)('%s, and can’t be decoded: it is reported, and replaced by the next load', async (_, ms) => {
    const made = cluster();
    await made.store.write('v', 'garbage', (made.clock.now() + ms) * 1000);
    const { value, lines } = made.instance();
    expect(await value.get()).toBe('load 1');
    expect(lines.filter((line) => line.includes('rejected'))).toHaveLength(1);
    expect(await servedByAnother(made)).toBe('load 1');
    expect(lines.join()).not.toContain('not published');
  });

  it('and just below 2^53: is replaced although it is sound', async () => {
    const made = cluster();
    const first = made.instance();
    expect(await first.value.get()).toBe('load 1');
    await made.clock.flush();
    const { payload = '' } = (await made.store.read('v')) ?? {};
    await made.store.write('v', payload, Number.MAX_SAFE_INTEGER - 1);
    expect(await first.value.refresh()).toBe('load 2');
    expect(await servedByAnother(made)).toBe('load 2');
  });
});

describe('a backend whose clock was two years ahead, and is set right', () => {
  it('the record is replaced, and that is logged once', async () => {
    const { clock, instance } = cluster();
    const { value, lines } = instance();
    await value.get();
    await clock.flush();
    clock.stepWall(-730 * DAY);
    for (const expected of ['load 2', 'load 3']) {
      expect(await value.refresh()).toBe(expected);
      await clock.flush();
    }
    const line = 'lock record damaged, it is replaced: its token was implausible or of a wrong type';
    expect(lines.filter((one) => one.includes('damaged'))).toEqual([`warn tickless: v: ${line}`]);
  });

  it('instances with a value of that time adopt what others load', async () => {
    const { clock, instance } = cluster();
    const [a, b] = [instance(), instance()];
    await a.value.get();
    await clock.flush();
    expect(await b.value.get()).toBe('load 1');
    clock.stepWall(-730 * DAY);
    await a.value.refresh();
    await clock.advance(50_000);
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(15_000);
      await a.value.get();
      await clock.flush();
      await b.value.get();
      await clock.flush();
    }
    expect(b.value.peek()).toBe(a.value.peek());
  });
});
