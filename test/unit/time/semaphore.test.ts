import { expect, it, vi } from 'vitest';
import { Deferred } from '../../../src/time/deferred.ts';
import { Line } from '../../../src/time/line.ts';
import { Semaphore } from '../../../src/time/semaphore.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Actions that end by hand, and the names of those that have started, in order. */
function actions(limit: number) {
  const semaphore = new Semaphore(limit);
  const started: string[] = [];
  const ends = new Map<string, Deferred<string>>();
  const run = (name: string, signal?: AbortSignal): Promise<string> => {
    const end = new Deferred<string>();
    ends.set(name, end);
    const action = () => {
      started.push(name);
      return end.promise;
    };
    return semaphore.run(action, signal);
  };
  return { semaphore, run, started, end: (name: string) => ends.get(name) as Deferred<string> };
}

it('runs at most `limit` actions at a time, the others in order, also after one that fails', async () => {
  const { run, started, end } = actions(2);
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => run(name)) as Promise<string>[];
  expect(started).toEqual(['a', 'b']);
  end('b').reject(new Error('down'));
  await expect(b).rejects.toThrow('down');
  await turn();
  expect(started).toEqual(['a', 'b', 'c']);
  for (const name of ['a', 'c', 'd']) end(name).resolve(name);
  expect(await Promise.all([a, c, d])).toEqual(['a', 'c', 'd']);
  run('e');
  run('f');
  run('g');
  expect(started).toEqual(['a', 'b', 'c', 'd', 'e', 'f']); // both places are free again
});

it('an abort takes a waiting action out of the queue, and leaves one that has started', async () => {
  const { run, started, end } = actions(1);
  const [one, two] = [new AbortController(), new AbortController()];
  const a = run('a', one.signal);
  const b = run('b', two.signal);
  const c = run('c');
  const reason = new Error('enough');
  one.abort(reason);
  two.abort(reason);
  await expect(b).rejects.toBe(reason);
  end('a').resolve('a');
  expect(await a).toBe('a');
  await turn();
  expect(started).toEqual(['a', 'c']);
  end('c').resolve('c');
  expect(await c).toBe('c');
});

it('an abort counts also before the call, and between the turn and the start', async () => {
  const { run, started, end } = actions(1);
  const reason = new Error('enough');
  await expect(run('x', AbortSignal.abort(reason))).rejects.toBe(reason);
  const controller = new AbortController();
  const a = run('a');
  const b = run('b', controller.signal);
  const c = run('c');
  end('a').promise.then(() => controller.abort(reason)); // right after the place was passed on to b
  end('a').resolve('a');
  await expect(b).rejects.toBe(reason);
  await turn();
  expect(started).toEqual(['a', 'c']);
  end('c').resolve('c');
  expect(await c).toBe('c');
  expect(await a).toBe('a');
});

it('an urgent action comes before those that wait, and after the urgent ones before it', async () => {
  const { semaphore, run, started, end } = actions(1);
  const all = [run('a'), run('b')];
  for (const name of ['c', 'd'])
    all.push(
      semaphore.runUrgent(async () => {
        started.push(name);
        return name;
      }),
    );
  expect(semaphore.waiting).toBe(3);
  for (const name of ['a', 'b']) end(name).resolve(name);
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd']);
  expect(started).toEqual(['a', 'c', 'd', 'b']);
});

it('a line goes on in order, whoever leaves before and comes after; a long one is passed once', () => {
  const line = new Line<number>();
  for (const one of [1, 2, 3, 4]) line.add(one);
  line.delete(2);
  expect([line.next(), line.next(), line.size]).toEqual([1, 3, 1]);
  line.add(5);
  expect([line.next(), line.next(), line.next()]).toEqual([4, 5, undefined]);
  line.add(6);
  line.delete(6);
  line.add(7);
  expect([line.next(), line.next()]).toEqual([7, undefined]);
  const begins = vi.spyOn(Set.prototype, 'values'); // one that begins anew passes the places of all that have left
  const long = new Line<number>();
  for (let one = 1; one <= 1000; one += 1) long.add(one);
  for (let one = 1; one <= 1000; one += 1) expect(long.next()).toBe(one);
  expect(begins.mock.calls.length).toBeLessThanOrEqual(2);
  begins.mockRestore();
});
