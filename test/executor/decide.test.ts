import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decision, decide } from '../../src/executor/decide.ts';

const flight = { depart: () => {}, hold: () => {}, release: () => {}, end: () => {} };
const instant = fc.oneof(fc.constant(-Infinity), fc.integer({ min: -100, max: 100 }), fc.constant(Infinity));

const situations = fc.record({
  entry: fc.record({
    isLoaded: fc.boolean(),
    flight: fc.constantFrom(undefined, flight),
    dueAt: instant,
    loadedAt: fc.integer({ min: -100, max: 0 }),
    maxStalenessMs: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Infinity)),
    coolDownUntil: instant,
    standsByUntil: instant,
  }),
  policy: fc.record({
    gate: fc.constantFrom('open', 'paused', 'closed'),
    whenTooStale: fc.constantFrom('wait', 'throw', 'serve'),
    whenClosed: fc.constant('serve'),
  }),
  now: fc.integer({ min: 0, max: 100 }),
});

const starts: readonly Decision[] = ['serve-and-start', 'reject-and-start'];

describe('decide', () => {
  it('answers in every situation, by the rules', () => {
    fc.assert(
      fc.property(situations, ({ entry, policy, now }) => {
        const decision = decide(entry, policy, now);
        const mayLoad = !entry.flight && policy.gate === 'open' && now >= entry.coolDownUntil;
        const mayStart = mayLoad && now >= entry.standsByUntil; // who waits may start all the same
        if (starts.includes(decision)) expect(mayStart).toBe(true);
        if (decision === 'wait-for-load') expect(mayLoad || entry.flight !== undefined).toBe(true);
        const isTooStale = now - entry.loadedAt > entry.maxStalenessMs;
        if (entry.isLoaded && !isTooStale) {
          expect(decision).toBe(now >= entry.dueAt && mayStart ? 'serve-and-start' : 'serve');
        }
        if (entry.isLoaded && isTooStale && policy.whenTooStale === 'serve') {
          expect(decision).toBe(mayStart ? 'serve-and-start' : 'serve');
        }
        if (!entry.isLoaded) expect(['wait-for-load', 'reject']).toContain(decision);
      }),
      { numRuns: 5000 },
    );
  });

  it('is monotone in age: once a read is refused, no later one is served', () => {
    fc.assert(
      fc.property(situations, fc.nat(100), ({ entry, policy, now }, later) => {
        const isServed = (at: number): boolean => decide(entry, policy, at).startsWith('serve');
        if (!isServed(now)) expect(isServed(now + later)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });
});
