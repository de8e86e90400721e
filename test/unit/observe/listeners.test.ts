import { describe, expect, it } from 'vitest';
import { eventTypes, RefreshGroup, RefreshingValue, type TicklessEvent } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordLines } from '../../support/events.ts';
import { manualValue } from '../../support/manual-value.ts';

const story = (events: readonly TicklessEvent[]): string[] =>
  events.map(({ type, name }) => `${name} ${type}`);

describe("a listener of '*'", () => {
  it('hears each event, after the listeners of its type, until it is unsubscribed', async () => {
    const { value, manual } = manualValue();
    const heard: string[] = [];
    const stop = value.on('*', ({ type }) => void heard.push(`* ${type}`));
    value.on('load-started', ({ type }) => void heard.push(type));
    const first = value.get();
    manual.call(0).resolve('one');
    await first;
    expect(heard).toEqual(['load-started', '* load-started', '* load-succeeded', '* changed']);
    stop();
    value.pause();
    expect(heard).toHaveLength(4);
  });

  it.each([
    ['type', () => manualValue().value.on('any' as '*', () => {}), `must be * or one of ${eventTypes[0]}`],
    ['listener', () => new RefreshGroup().on('*', undefined as never), 'must be a function'],
  ])('is refused with a wrong %s', (option, call, rule) => {
    expect(call).toThrow(expect.objectContaining({ code: 'OPTION' }));
    expect(call).toThrow(`${option} ${rule}`);
  });
});

describe('a listener of a group', () => {
  const clock = new FakeClock();
  const make = (): RefreshGroup => new RefreshGroup({ clock, logger: false, retry: false });

  it('hears all members, also those made later, after their own listeners', async () => {
    const group = make();
    const a = group.value({ name: 'a', load: () => 1 });
    const heard: TicklessEvent[] = [];
    group.on('*', (event) => void heard.push(event));
    a.on('load-started', () => expect(heard).toEqual([]));
    expect(a.current).toBe(1);
    const cities = group.cache({ name: 'cities', load: (key: string) => key });
    expect(cities.current('x')).toBe('x');
    await group.executor(() => {}, { name: 'task' }).execute();
    expect(story(heard)).toEqual([
      'a load-started',
      'a load-succeeded',
      'a changed',
      'cities load-started',
      'cities load-succeeded',
      'cities changed',
      'task load-started',
      'task load-succeeded',
    ]);
  });

  it('hears the end of a member that is closed, and nothing of it later', async () => {
    const group = make();
    const a = group.value({
      name: 'a',
      load: () => 1,
      schedule: 500,
    });
    expect(a.current).toBe(1);
    const heard: TicklessEvent[] = [];
    const stop = group.on('*', (event) => void heard.push(event));
    await a.close();
    await clock.advance(2000);
    expect(a.current).toBe(1);
    expect(story(heard)).toEqual(['a closed']);
    stop();
    const b = group.value({ name: 'b', load: () => 1 });
    b.pause();
    expect(heard).toHaveLength(1);
  });

  it('that throws is logged by the member, and changes nothing else in the log', async () => {
    const linesWith = async (isObserved: boolean): Promise<string[]> => {
      const logger = recordLines();
      const group = new RefreshGroup({ clock: new FakeClock(), logger, retry: false, random: () => 0.5 });
      const a = new RefreshingValue({ name: 'a', load: () => Promise.reject(new Error('down')), group });
      if (isObserved) for (const target of [group, a]) target.on('*', () => {});
      a.requestStart({ wait: false });
      await clock.flush();
      return logger.lines;
    };
    const lines = await linesWith(false);
    expect(lines).toHaveLength(1);
    expect(await linesWith(true)).toEqual(lines);

    const logger = recordLines();
    const group = new RefreshGroup({ clock, logger });
    group.on('paused', () => {
      throw new Error('oops');
    });
    group.value({ name: 'a', load: () => 1 }).pause();
    expect(logger.lines).toEqual(['error tickless: a: listener of paused threw: oops']);
  });
});
