import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Decision, decide, isStandingBy, startableFrom } from '../../../src/engine/decide.ts';

type Entry = Parameters<typeof decide>[0];
type ResolvedOptions = Parameters<typeof decide>[1];

/** A read, and all that its answer may depend on. */
interface Situation {
  readonly entry: Entry;
  readonly policy: ResolvedOptions;
  readonly now: number;
}

const flight = { hasBegun: true, depart: () => {}, hold: () => {}, release: () => {}, end: () => {} };

const NOW = 1000;
const LIMIT = 100;
const AGES = [0, LIMIT - 1, LIMIT, LIMIT + 1, 10 * LIMIT];

/** Each field in each of its states: on both sides of every instant, and on it. */
const STATES = {
  isLoaded: [false, true],
  flight: [undefined, flight],
  dueAt: [-Infinity, NOW - 1, NOW, NOW + 1, Infinity],
  loadedAt: AGES.map((age) => NOW - age),
  maxStalenessMs: [LIMIT, Infinity],
  coolDownUntil: [-Infinity, NOW - 1, NOW, NOW + 1],
  deferredUntil: [-Infinity, NOW - 1, NOW, NOW + 1],
  gate: ['open', 'paused', 'closed'],
  whenTooStale: ['wait', 'throw', 'serve'],
  whenClosed: ['serve', 'throw'],
} as const;

/** All combinations of them. */
const everySituation: readonly Situation[] = Object.entries(STATES)
  .reduce<object[]>(
    (all, [field, states]) => all.flatMap((rest) => states.map((state) => ({ ...rest, [field]: state }))),
    [{}],
  )
  .map((fields) => ({ entry: fields as Entry, policy: fields as ResolvedOptions, now: NOW }));

/** What a read does, by what it meets, and by whether nothing may come, it may be waited for, or also be started. */
const PROMISED: Readonly<Record<string, readonly [Decision, Decision, Decision]>> = {
  nothing: ['reject', 'wait-for-load', 'wait-for-load'],
  fresh: ['serve', 'serve', 'serve'],
  due: ['serve', 'serve', 'serve-and-start'],
  'too stale, serve': ['serve', 'serve', 'serve-and-start'],
  'too stale, throw': ['reject', 'reject', 'reject-and-start'],
  'too stale, wait': ['reject', 'wait-for-load', 'wait-for-load'],
};

function promised({ entry, policy, now }: Situation): Decision {
  if (policy.gate === 'closed' && policy.whenClosed === 'throw') return 'reject';
  const mayLoad = entry.flight === undefined && policy.gate === 'open' && now >= entry.coolDownUntil;
  const mayStart = mayLoad && now >= entry.deferredUntil;
  const [hopeless, waiting, starting] = PROMISED[met(entry, policy, now)] as (typeof PROMISED)[string];
  if (mayStart) return starting;
  return mayLoad || entry.flight !== undefined ? waiting : hopeless;
}

function met(
  { isLoaded, loadedAt, maxStalenessMs, dueAt }: Entry,
  policy: ResolvedOptions,
  now: number,
): string {
  if (!isLoaded) return 'nothing';
  if (now - loadedAt > maxStalenessMs) return `too stale, ${policy.whenTooStale}`;
  return now >= dueAt ? 'due' : 'fresh';
}

const answer = ({ entry, policy, now }: Situation): Decision => decide(entry, policy, now);
const isServed = (situation: Situation): boolean => answer(situation).startsWith('serve');
const starts = (situation: Situation): boolean => answer(situation).endsWith('-and-start');

/** A new value is on its way, or this read sees to it. */
function isRenewed(situation: Situation): boolean {
  const isUnderWay = situation.entry.flight !== undefined;
  return isUnderWay || starts(situation) || answer(situation) === 'wait-for-load';
}

const instant = fc.oneof(fc.constant(-Infinity), fc.integer({ min: -100, max: 100 }), fc.constant(Infinity));
const anySituation = fc.record({
  entry: fc.record({
    isLoaded: fc.boolean(),
    flight: fc.constantFrom(undefined, flight),
    dueAt: instant,
    loadedAt: fc.integer({ min: -100, max: 0 }),
    maxStalenessMs: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Infinity)),
    coolDownUntil: instant,
    deferredUntil: instant,
  }),
  policy: fc.record({
    gate: fc.constantFrom('open', 'paused', 'closed'),
    whenTooStale: fc.constantFrom('wait', 'throw', 'serve'),
    whenClosed: fc.constantFrom('serve', 'throw'),
  }),
  now: fc.integer({ min: 0, max: 100 }),
});

describe('decide', () => {
  it('answers as promised in every combination of states', () => {
    expect(everySituation.length).toBe(57_600);
    const broken = everySituation.filter((situation) => answer(situation) !== promised(situation));
    expect(broken.slice(0, 3)).toEqual([]);
    expect(new Set(everySituation.map(answer))).toEqual(new Set(Object.values(PROMISED).flat()));
  });

  it('is monotone in age: an older value is never served again, nor its reload called off', () => {
    for (const situation of everySituation) {
      for (const age of AGES) {
        const loadedAt = NOW - age;
        if (loadedAt >= situation.entry.loadedAt) continue;
        const older = { ...situation, entry: { ...situation.entry, loadedAt } };
        if (!isServed(situation) && isServed(older)) expect.fail(`served again: ${JSON.stringify(older)}`);
        if (isRenewed(situation) && !isRenewed(older)) expect.fail(`called off: ${JSON.stringify(older)}`);
      }
    }
  });

  it('is monotone in time: once a read is refused no later one is served, and what is due stays due', () => {
    fc.assert(
      fc.property(anySituation, fc.nat(100), (situation, elapsed) => {
        const later = { ...situation, now: situation.now + elapsed };
        if (!isServed(situation)) expect(isServed(later)).toBe(false);
        if (isRenewed(situation)) expect(isRenewed(later)).toBe(true);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('startableFrom', () => {
  it('without looking ahead is the instant from which on reads within the age limit start a load', () => {
    for (const situation of everySituation) {
      const { entry, policy, now } = situation;
      if (policy.gate !== 'open' || !entry.isLoaded || entry.maxStalenessMs < Infinity) continue;
      expect(starts(situation)).toBe(now >= startableFrom(entry, 0));
    }
  });

  it('looks ahead as far as is said, but neither into the first half of the time nor into a cool-down', () => {
    fc.assert(
      fc.property(anySituation, fc.nat(200), ({ entry }, lookAhead) => {
        const { dueAt, loadedAt, coolDownUntil, deferredUntil } = entry;
        const from = startableFrom({ ...entry, flight: undefined }, lookAhead);
        expect(from).toBeGreaterThanOrEqual(Math.max(coolDownUntil, deferredUntil));
        if (dueAt >= loadedAt) {
          expect(from).toBeLessThanOrEqual(Math.max(dueAt, coolDownUntil, deferredUntil));
          expect(from).toBeGreaterThanOrEqual(dueAt - lookAhead);
          expect(from).toBeGreaterThanOrEqual((loadedAt + dueAt) / 2);
        }
        expect(startableFrom({ ...entry, flight }, lookAhead)).toBe(Infinity);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('isStandingBy', () => {
  it('is what keeps a due read from starting a load, and nothing else', () => {
    for (const { entry, policy, now } of everySituation) {
      const relieved = { ...entry, isLoaded: true, maxStalenessMs: Infinity, deferredUntil: -Infinity };
      const wouldStart = policy.gate === 'open' && starts({ entry: relieved, policy, now });
      expect(isStandingBy(entry, policy.gate, now)).toBe(wouldStart && now < entry.deferredUntil);
    }
  });
});
