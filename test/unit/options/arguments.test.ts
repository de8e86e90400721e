import { describe, expect, it } from 'vitest';
import { isTicklessError, PeriodicExecutor, RefreshGroup } from '../../../src/index.ts';
import { rejectionOf, thrownBy } from '../../support/settle.ts';

/** A group with a value, a cache and a task, all loaded. */
async function loadedGroup() {
  const group = new RefreshGroup({ logger: false });
  const value = group.value({ name: 'v', load: () => 1 });
  const cache = group.cache({ name: 'c', load: (key: string) => key });
  const task = group.executor(() => {}, { name: 't' });
  await Promise.all([value.get(), cache.get('k'), task.requestStart()]);
  return { group, value, cache, task };
}

describe('the options of a call', () => {
  it('that are misspelt are refused, with a suggestion, also by a fresh read', async () => {
    const { group, value, cache, task } = await loadedGroup();
    for (const [call, message] of [
      [() => value.get({ patince: 5 } as never), 'v: patince is unknown (did you mean patience?)'],
      [() => cache.get('k', { Signal: undefined, sigal: 5 } as never), 'did you mean signal?'],
      [() => cache.getMany(['k', 'l'], { onerror: () => {} } as never), 'did you mean onError?'],
      [() => value.get('v' as never), 'v: options must be an object'],
      [() => value.requestStart({ wiat: true } as never), 'did you mean wait?'],
      [() => task.requestStart({ waitUntill: () => {} } as never), 'did you mean waitUntil?'],
      [() => cache.requestStart({ waits: true } as never), 'did you mean wait?'],
      [() => value.refresh({ by: 'ann' } as never), 'by is unknown (expected one of: force, here)'],
      [() => cache.refresh('k', { forced: 'x' } as never), 'did you mean force?'],
    ] as const) {
      const error = await rejectionOf(call());
      expect(isTicklessError(error, 'OPTION') && error.message).toContain(message);
    }
    const unreadable = {
      get patience(): number {
        throw new Error('unreadable');
      },
    };
    expect(await rejectionOf(value.get(unreadable))).toMatchObject({ message: 'unreadable' });
    for (const [call, message] of [
      [() => cache.keys({ recentFrist: true } as never), 'did you mean recentFirst?'],
      [() => value.invalidate({ dorp: true } as never), 'did you mean drop?'],
      [() => cache.invalidate('k', { Drop: true } as never), 'did you mean drop?'],
      [() => value.set(2, { user: 'ann' } as never), 'user is unknown (expected one of: by, note, here)'],
      [() => cache.set('k', 'k', { notes: 'x' } as never), 'did you mean note?'],
      [() => group.requestStart({ waituntil: () => {} } as never), 'did you mean waitUntil?'],
      [() => group.ready({ timout: 5 } as never), 'did you mean timeout?'],
      [() => value.close({ time: 5 } as never), 'v: time is unknown (did you mean timeout?)'],
      [() => group.close({ timeouts: 5 } as never), 'did you mean timeout?'],
      [() => group.inspect({ value: false } as never), 'did you mean values?'],
    ] as const) {
      const error = thrownBy(call);
      expect(isTicklessError(error, 'OPTION') && error.message).toContain(message);
    }
    expect(value.inspect()).toMatchObject({ isStale: false, closed: false });
  });

  it('that are yes or no are refused where they are neither', async () => {
    const { value, cache } = await loadedGroup();
    for (const call of [
      () => value.invalidate({ drop: 1 } as never),
      () => cache.invalidate('k', { drop: 'yes' } as never),
    ]) {
      expect(thrownBy(call)).toMatchObject({
        message: expect.stringContaining('drop must be true or false'),
      });
    }
    expect([value.inspect().isStale, cache.peek('k')]).toEqual([false, 'k']);
  });

  it('may be undefined', async () => {
    const { value, cache } = await loadedGroup();
    expect(await value.get({ patience: undefined, unknown: undefined } as never)).toBe(1);
    expect((await cache.getMany(['k'], undefined)).get('k')).toBe('k');
    await new PeriodicExecutor(() => {}, { name: 't' }).requestStart(undefined);
  });
});
