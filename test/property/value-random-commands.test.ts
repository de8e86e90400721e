import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keep, type LoadContext, type LoadReturn, RefreshingValue } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { onCoolDown, onEnded } from '../support/events.ts';
import { settled } from '../support/settle.ts';
import { doing } from './commands.ts';

/** The value of a load: how many invalidations and sets had come before it began. */
interface Loaded {
  readonly epoch: number;
}

type Command =
  | {
      readonly do:
        | 'read'
        | 'current'
        | 'refresh'
        | 'request'
        | 'invalidate'
        | 'drop'
        | 'set'
        | 'pause'
        | 'resume';
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'end'; readonly how: 'value' | 'keep' | 'undefined' | 'reject' };

const of = doing<Command>;
const command = fc.oneof(
  of(6, ['read', 'current']),
  of(4, ['refresh', 'request', 'invalidate', 'drop', 'set', 'pause', 'resume']),
  of(4, ['advance'], { ms: fc.constantFrom(0, 40, 60, 100, 400, 3000) }),
  of(6, ['end'], { how: fc.constantFrom('value', 'keep', 'undefined', 'reject') }),
);

/** A command, and when the next one comes: most of them when all has happened that it leads to. */
type Step = readonly [Command, next: 'later' | 'in a microtask' | 'at once'];
const next = fc.constantFrom<Step[1]>('later', 'later', 'later', 'in a microtask', 'at once');
const commands = fc.array(fc.tuple(command, next), { maxLength: 60 });

/** One load under way, as the model sees it: begun at an epoch, ended by the test. */
interface Live {
  readonly epoch: number;
  readonly signal: AbortSignal;
  resolve(answer: LoadReturn<Loaded>): void;
  reject(error: unknown): void;
}

it('the rules hold after each of any commands in any order', async () => {
  await fc.assert(
    fc.asyncProperty(commands, fc.boolean(), async (steps: readonly Step[], isLimited) => {
      const clock = new FakeClock();
      const started: Live[] = [];
      const broken: string[] = []; // an error of a listener would only be logged
      let epoch = 0;
      let coolDownUntil = Number.NEGATIVE_INFINITY;
      const value: RefreshingValue<Loaded> = new RefreshingValue<Loaded>({
        retry: false,
        name: 'v',
        load: ({ signal }: LoadContext) =>
          new Promise<LoadReturn<Loaded>>((resolve, reject) => {
            started.push({ epoch, signal, resolve, reject });
            signal.addEventListener('abort', () => reject(signal.reason));
          }),
        schedule: 100,
        timeout: 1000,
        coolDown: { initial: 50, max: 400 },
        ...(isLimited ? { maxStaleness: 500 } : {}),
        clock,
        logger: false,
      });
      onCoolDown(value, (delay) => {
        coolDownUntil = clock.monotonic() + delay;
      });
      onEnded(value, ['loaded', 'kept'], () => {
        coolDownUntil = Number.NEGATIVE_INFINITY;
      });
      value.on('load-started', ({ trigger, background }) => {
        // A read starts nothing in a cool-down, nor while paused.
        if (background || trigger === 'due' || trigger === 'first') {
          if (clock.monotonic() < coolDownUntil) broken.push('started in a cool-down');
          if (value.inspect().paused) broken.push('started while paused');
        }
      });
      // A value that is kept after an invalidation is new with an old epoch: the model does not know that case.
      const isKept = (since: number): boolean => (value.peek()?.epoch ?? since) === since;
      let mustBeAtLeast = 0;
      const waits: Promise<unknown>[] = [];
      for (const [step, next] of steps) {
        const { state } = value.inspect();
        switch (step.do) {
          case 'read': {
            const inPlace = value.peek();
            const promise = value.get();
            waits.push(promise.catch(() => {}));
            // Rule 2: a value that may be served is served at once.
            if (state === 'fresh' || state === 'stale') {
              expect(await settled(promise)).toEqual({ value: inPlace });
            }
            break;
          }
          case 'current':
            try {
              expect(value.current).toBe(value.peek());
            } catch (error) {
              expect(['empty', 'too-stale']).toContain(state);
              expect(error).toMatchObject({ code: state === 'empty' ? 'NOT_LOADED' : 'TOO_STALE' });
            }
            break;
          case 'refresh': {
            const from = epoch;
            const refreshed = value.refresh().then(
              (got) => expect(got.epoch).toBeGreaterThanOrEqual(from),
              (error) => expect(error.code).toMatch(/^(LOAD_FAILED|TIMED_OUT)$/),
            );
            refreshed.catch(() => {}); // reported at the end, when all are awaited
            waits.push(refreshed);
            break;
          }
          case 'request':
            waits.push(value.requestStart().catch(() => {}));
            break;
          case 'invalidate':
          case 'drop':
            epoch += 1;
            value.invalidate({ drop: step.do === 'drop' });
            break;
          case 'set':
            epoch += 1;
            mustBeAtLeast = epoch;
            coolDownUntil = Number.NEGATIVE_INFINITY;
            value.set({ epoch });
            break;
          case 'pause':
            value.pause();
            break;
          case 'resume':
            value.resume();
            break;
          case 'advance':
            await clock.advance(step.ms);
            break;
          case 'end': {
            const live = started.findLast(({ signal }) => !signal.aborted) ?? started.at(-1);
            if (live === undefined) break;
            if (step.how === 'reject') live.reject(new Error('down'));
            else if (step.how === 'keep' && isKept(live.epoch)) live.resolve(keep());
            else live.resolve(step.how === 'undefined' ? (undefined as never) : { epoch: live.epoch });
            started.splice(started.indexOf(live), 1);
          }
        }
        if (next === 'in a microtask') for (let i = 0; i < 10; i++) await undefined;
        if (next !== 'later') continue;
        await clock.flush();
        const status = value.inspect();
        // Rule 5
        expect(broken).toEqual([]);
        // Rule 1: at most one is not aborted. (Ended ones have been removed.)
        expect(started.filter(({ signal }) => !signal.aborted).length).toBeLessThanOrEqual(1);
        // Rule 4: `running` is true while there is one.
        expect(status.running).toBe(started.some(({ signal }) => !signal.aborted));
        // Rule 7: a value that was set is never replaced by a load begun before.
        if (status.value !== undefined) expect(status.value.epoch).toBeGreaterThanOrEqual(mustBeAtLeast);
        // Rule 8: no timer without an execution.
        if (!status.running) expect(clock.timerCount).toBe(0);
      }
      // No read waits for ever: all deadlines have passed by then.
      for (let i = 0; i < 3; i++) await clock.advance(1000);
      value.invalidate({ drop: false });
      for (let i = 0; i < 3; i++) await clock.advance(1000);
      expect(value.inspect().running).toBe(false);
      await Promise.all(waits);
    }),
    { numRuns: 1000 },
  );
});
