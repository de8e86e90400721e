import fc from 'fast-check';
import { expect, it } from 'vitest';
import { derive, keep, type LoadReturn, RefreshingValue, type TicklessError } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';
import { doing } from './commands.ts';

/** The ids of the source values that something was computed from. */
interface From {
  readonly ids: readonly number[];
}

type Command =
  | { readonly do: 'set' | 'load' | 'keep' | 'fail' | 'drop'; readonly source: 0 | 1 | 2 }
  | { readonly do: 'current' }
  | { readonly do: 'get' }
  | { readonly do: 'advance'; readonly ms: number };

const of = doing<Command>;
const source = fc.constantFrom(0, 1, 2);
const names = ['a', 'b', 'c'] as const;

const commands = fc.array(
  fc.oneof(
    of(6, ['set', 'load', 'keep', 'fail', 'drop'], { source }),
    of(6, ['current', 'get']),
    of(2, ['advance'], { ms: fc.constantFrom(1, 30, 200) }),
  ),
  { maxLength: 50 },
);

it('is computed at most once per version of its sources, of what they hold, and as old as the oldest', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (steps: readonly Command[]) => {
      const clock = new FakeClock();
      const freshAt: number[] = [];
      const make = (): From => ({ ids: [freshAt.push(clock.monotonic()) - 1] });
      /** Of one source: loads of others may run behind the same step. */
      let special: { readonly source: string; readonly answer: () => LoadReturn<From> } | undefined;
      const sources = names.map(
        (name) =>
          new RefreshingValue<From>({
            name,
            load: () => (special?.source === name ? special.answer() : make()),
            schedule: 100,
            retry: false,
            logger: false,
            clock,
          }),
      ) as [RefreshingValue<From>, RefreshingValue<From>, RefreshingValue<From>];
      const [a, b, c] = sources;
      const computed: string[] = [];
      let failures = 0;
      const join = (...parts: readonly From[]): From => {
        const ids = parts.flatMap((part) => part.ids);
        computed.push(ids.join());
        if (ids.reduce((sum, id) => sum + id, 0) % 5 !== 4) return { ids };
        failures += 1;
        throw new Error('of these it cannot be computed');
      };
      const pair = derive([a, b], join, { logger: false });
      const all = derive([pair, c], join, { logger: false });

      const check = (): void => {
        expect(new Set(computed).size).toBe(computed.length);
        for (const [derived, parts] of [
          [pair, [a, b]],
          [all, sources],
        ] as const) {
          // biome-ignore format: short
          const held = parts.map((part) => part.peek()?.ids[0]);
          const { value, age, state, failures } = derived.inspect();
          if (value === undefined) continue;
          const least = clock.monotonic() - Math.min(...value.ids.map((id) => freshAt[id] as number));
          expect(age).toBeGreaterThanOrEqual(least);
          if (value.ids.join() !== held.join()) expect(state).not.toBe('fresh');
          else expect([age, failures]).toEqual([least, 0]);
        }
      };
      const heldIds = (): (number | undefined)[] => sources.map((part) => part.peek()?.ids[0]);
      /** A read returns what the sources held when it began, or hold now, unless that could not be computed since. */
      const checkRead = (read: From, before: readonly unknown[], failuresBefore = failures): void => {
        const now = heldIds();
        if (failures > failuresBefore || all.inspect().failures + pair.inspect().failures > 0) return;
        read.ids.forEach((id, index) => {
          expect([before[index], now[index]]).toContain(id);
        });
      };
      for (const step of steps) {
        if (step.do === 'advance') await clock.advance(step.ms);
        else if (step.do === 'current') {
          try {
            checkRead(all.current, []);
          } catch (error) {
            expect(['LOAD_FAILED', 'NOT_LOADED']).toContain((error as TicklessError).code);
          }
        } else if (step.do === 'get') {
          const [before, failed] = [heldIds(), failures];
          const [first, second] = [all.get(), all.get()];
          const read = await first.catch((error: TicklessError) => error.code);
          if (typeof read !== 'string') checkRead(read, before, failed);
          else expect(['LOAD_FAILED', 'COOLING_DOWN']).toContain(read);
          const other = await second.catch(() => undefined);
          if (other !== undefined) checkRead(other, before, failed);
        } else {
          const target = sources[step.source];
          if (step.do === 'set') target.set(make());
          else if (step.do === 'drop') target.invalidate({ drop: true });
          else {
            const id = target.peek()?.ids[0];
            const source = names[step.source];
            if (step.do === 'fail') special = { source, answer: () => { throw new Error('down'); } }; // biome-ignore format: short
            if (step.do === 'keep') special = { source, answer: keep };
            await target.refresh().then(() => { if (step.do === 'keep') freshAt[id as number] = clock.monotonic(); }, () => {}); // biome-ignore format: short
            special = undefined;
          }
        }
        check();
      }
    }),
    { numRuns: 500 },
  );
}, 120_000);
