import { describe, expect, it } from 'vitest';
import { loaded, RefreshGroup, type RefreshingValueOptions, type ValueDump } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordChanges } from '../../support/events.ts';
import { fakeValue, type ManualValue, manualValue } from '../../support/manual-value.ts';
import { settled, thrownBy } from '../../support/settle.ts';
import { shortTexts } from '../../support/short-texts.ts';

const MINUTE = 60_000;

type Options = Partial<RefreshingValueOptions<string>>;

/** The dump of a value that was loaded at the start, with a period of 10 minutes, after a pass through a file. */
async function dumpOf(load: RefreshingValueOptions<string>['load'] = () => 'dumped') {
  const { value, clock } = fakeValue<string>(load, { schedule: 10 * MINUTE });
  await value.get();
  await clock.advance(MINUTE);
  return { clock, dump: JSON.parse(JSON.stringify(value.dump())) as ValueDump<string> };
}

/** A process that starts some time after a dump was made. */
function start({ clock }: { clock: FakeClock }, downtime: number, options: Options = {}): ManualValue {
  const now = clock.now() + downtime;
  return manualValue({ schedule: 10 * MINUTE, clock: new FakeClock({ now }), ...options });
}

describe('a warm start of a value', () => {
  it('has the value, its age and its due time again, and loads when it is due', async () => {
    const before = await dumpOf();
    const { value, manual, clock } = start(before, 2 * MINUTE);
    const changes = recordChanges(value);
    expect(value.restore(before.dump)).toEqual({ restored: 1, dropped: 0 });
    expect(value.inspect()).toMatchObject({ value: 'dumped', state: 'fresh', age: 3 * MINUTE });
    expect(changes).toMatchObject([{ value: 'dumped', cause: 'restored', version: undefined }]);
    await clock.advance(7 * MINUTE - 1);
    expect([value.current, manual.calls.length]).toEqual(['dumped', 0]);
    await clock.advance(1);
    expect(value.current).toBe('dumped');
    await clock.flush();
    expect(manual.calls.length).toBe(1);
  });

  it('drops one that is older than its limit, or than the value that is held', async () => {
    const limited = await dumpOf(() => loaded('dumped', { maxStaleness: 5 * MINUTE }));
    expect(start(limited, 4 * MINUTE).value.restore(limited.dump)).toEqual({ restored: 1, dropped: 0 });
    expect(start(limited, 4 * MINUTE + 1).value.restore(limited.dump)).toEqual({ restored: 0, dropped: 1 });
    const { value } = start(limited, 0);
    value.set('held');
    expect(value.restore(limited.dump)).toEqual({ restored: 0, dropped: 1 });
    expect(value.peek()).toBe('held');
  });

  it('a load under way goes on, for the readers that wait; a group plans by the restored due time', async () => {
    const before = await dumpOf();
    const group = new RefreshGroup({ clock: new FakeClock({ now: before.clock.now() }), logger: false });
    const idle = start(before, 0, { group, name: 'idle' });
    idle.value.restore(before.dump);
    group.requestStart();
    await idle.clock.flush();
    expect(idle.manual.calls.length).toBe(0);
    const { value, manual } = start(before, 0);
    const read = value.get();
    value.restore(before.dump);
    expect([value.current, await settled(read)]).toEqual(['dumped', 'pending']);
    manual.call(0).resolve('new');
    expect([await read, value.current]).toEqual(['new', 'new']);
  });

  it('has no entry before the first success', () => {
    const { value, clock } = manualValue();
    const dump = value.dump();
    expect(dump).toEqual({ version: 1, name: 'v', at: clock.now(), entries: [] });
    expect(value.restore(dump)).toEqual({ restored: 0, dropped: 0 });
  });

  it('must fit the schema, whose output is the value', async () => {
    const { dump, clock } = await dumpOf();
    const { value } = start({ clock }, 0, { schema: shortTexts() });
    const rule = expect.stringContaining('must fit the schema');
    expect(thrownBy(() => value.restore(dump))).toMatchObject({ option: 'dump.entries[0].value', rule });
    const [entry] = dump.entries;
    value.restore({ ...dump, entries: [{ ...(entry as NonNullable<typeof entry>), value: 'short' }] });
    expect(value.peek()).toBe('SHORT');
  });

  it('is refused, as what is set, where the schema makes undefined of it without allowUndefined', async () => {
    const { dump, clock } = await dumpOf();
    const schema = { '~standard': { version: 1, validate: () => ({ value: undefined }) } } as const;
    const { value } = start({ clock }, 0, { schema: schema as never });
    const error = { option: 'dump.entries[0].value', rule: expect.stringContaining('become undefined') };
    expect(thrownBy(() => value.restore(dump))).toMatchObject(error);
    expect(thrownBy(() => value.set('one'))).toMatchObject({ ...error, option: 'value' });
    expect(value.inspect().state).toBe('empty');
    const { value: lax } = start({ clock }, 0, { schema: schema as never, allowUndefined: true as never });
    lax.set('one');
    expect([lax.inspect().state, lax.peek()]).toEqual(['fresh', undefined]);
  });

  it('refuses the dump of a cache, and what is none; nothing is restored', async () => {
    const { value, clock } = manualValue();
    const entry = { value: 'v', age: 0, nextExecuteTime: null };
    const whole = { version: 1, name: 'v', at: clock.now() };
    for (const [dump, option] of [
      [{ ...whole, entries: [{ ...entry, key: 'k' }] }, 'dump.entries[0].key'],
      [{ ...whole, entries: [entry, entry] }, 'dump.entries'],
      [{ ...whole, entries: [{ ...entry, age: -1 }] }, 'dump.entries[0].age'],
      [{ ...whole, version: 2, entries: [entry] }, 'dump'],
    ] as const) {
      const error = thrownBy(() => value.restore(dump as never));
      expect(error).toMatchObject({ name: 'OptionError', cacheName: 'v', option });
    }
    expect(value.peek()).toBeUndefined();
  });
});
