import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Decision,
  type DecisionRules,
  decide,
  isDeferred,
  startableFrom,
} from '../../../src/engine/decide.ts';
import { handleOf } from './support.ts';

type Times = Parameters<typeof decide>[0];

/** A read, and all that its decision may depend on. */
interface Situation {
  readonly entry: Times;
  readonly rules: DecisionRules;
  readonly now: number;
  readonly ownMs: number;
}

const flight = handleOf();
const down = new Error('down');
const NOW = 1000;
const LIMIT = 100;
const AGES = [0, LIMIT - 1, LIMIT, LIMIT + 1, 10 * LIMIT];

/** Each field in each of its states: on both sides of every instant, and on it. */
const STATES = {
  isLoaded: [false, true],
  lastError: [undefined],
  flight: [undefined, flight],
  dueAt: [-Infinity, NOW - 1, NOW, NOW + 1, Infinity],
  loadedAt: AGES.map((age) => NOW - age),
  maxStalenessMs: [LIMIT, Infinity],
  coolDownUntil: [-Infinity, NOW - 1, NOW, NOW + 1],
  deferredUntil: [-Infinity, NOW - 1, NOW, NOW + 1],
  runState: ['open', 'paused', 'closed'],
  whenTooStale: ['wait', 'throw'],
  whenFailing: ['serve'],
} as const;

/** All combinations of them. */
const everyOrdinary: readonly Situation[] = Object.entries(STATES)
  .reduce<object[]>(
    (all, [field, states]) => all.flatMap((rest) => states.map((state) => ({ ...rest, [field]: state }))),
    [{}],
  )
  .map((fields) => ({
    entry: fields as Times,
    rules: fields as DecisionRules,
    now: NOW,
    ownMs: Infinity,
  }));

/** Limits of one read: on both sides of that of the member, and the one that waits in any case. */
const OWN = [0, LIMIT - 1, LIMIT, LIMIT + 1];

/** The same after a failure, in both ways, and with a limit of the read. */
const everySituation: readonly Situation[] = [
  ...everyOrdinary,
  ...(['serve', 'throw'] as const).flatMap((whenFailing) =>
    everyOrdinary.map((situation) => ({
      ...situation,
      entry: { ...situation.entry, lastError: down },
      rules: { ...situation.rules, whenFailing },
    })),
  ),
  ...OWN.flatMap((ownMs) => everyOrdinary.map((situation) => ({ ...situation, ownMs }))),
];

/** The decision, by the state of the value, when a load may not run, may run for a waiting caller, or may start. */
const PROMISED: Readonly<Record<string, readonly [Decision, Decision, Decision]>> = {
  'no value': ['reject', 'wait-for-load', 'wait-for-load'],
  fresh: ['serve', 'serve', 'serve'],
  due: ['serve', 'serve', 'serve-and-start'],
  'too stale, throw': ['reject', 'reject', 'reject-and-start'],
  'too stale, wait': ['reject', 'wait-for-load', 'wait-for-load'],
  'too old for this read': ['reject', 'wait-for-load', 'wait-for-load'],
  failing: ['reject', 'reject', 'reject-and-start'],
};

function promised({ entry, rules, now, ownMs }: Situation): Decision {
  const mayLoad = entry.flight === undefined && rules.runState === 'open' && now >= entry.coolDownUntil;
  const mayStart = mayLoad && now >= entry.deferredUntil;
  const [hopeless, waiting, starting] = PROMISED[
    stateOf(entry, rules, now, ownMs)
  ] as (typeof PROMISED)[string];
  if (mayStart) return starting;
  return mayLoad || entry.flight !== undefined ? waiting : hopeless;
}

function stateOf(
  { isLoaded, loadedAt, maxStalenessMs, dueAt, lastError }: Times,
  rules: DecisionRules,
  now: number,
  ownMs: number,
): string {
  if (!isLoaded) return 'no value';
  const age = now - loadedAt;
  if (ownMs < maxStalenessMs && (ownMs === 0 || age > ownMs)) return 'too old for this read';
  if (lastError !== undefined && rules.whenFailing === 'throw') return 'failing';
  if (age > maxStalenessMs) return `too stale, ${rules.whenTooStale}`;
  return now >= dueAt ? 'due' : 'fresh';
}

const decisionOf = ({ entry, rules, now, ownMs }: Situation): Decision => decide(entry, rules, now, ownMs);
const isServed = (situation: Situation): boolean => decisionOf(situation).startsWith('serve');
const starts = (situation: Situation): boolean => decisionOf(situation).endsWith('-and-start');

/** A load is under way, or this read starts one. */
function isRenewed(situation: Situation): boolean {
  const isUnderWay = situation.entry.flight !== undefined;
  return isUnderWay || starts(situation) || decisionOf(situation) === 'wait-for-load';
}

const instant = fc.oneof(fc.constant(-Infinity), fc.integer({ min: -100, max: 100 }), fc.constant(Infinity));
const anySituation = fc.record({
  entry: fc.record({
    isLoaded: fc.boolean(),
    lastError: fc.constantFrom(undefined, down),
    flight: fc.constantFrom(undefined, flight),
    dueAt: instant,
    loadedAt: fc.integer({ min: -100, max: 0 }),
    maxStalenessMs: fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant(Infinity)),
    coolDownUntil: instant,
    deferredUntil: instant,
  }),
  rules: fc.record({
    runState: fc.constantFrom(...STATES.runState),
    whenTooStale: fc.constantFrom(...STATES.whenTooStale),
    whenFailing: fc.constantFrom('serve', 'throw'),
  }),
  now: fc.integer({ min: 0, max: 100 }),
  ownMs: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(Infinity)),
});

describe('decide', () => {
  it('decides as promised in every combination of states', () => {
    expect(everySituation.length).toBe(7 * 19_200);
    const broken = everySituation.filter((situation) => decisionOf(situation) !== promised(situation));
    expect(broken.slice(0, 3)).toEqual([]);
    expect(new Set(everySituation.map(decisionOf))).toEqual(new Set(Object.values(PROMISED).flat()));
  });

  it('is monotone in age: an older value is never served again, and its reload is never cancelled', () => {
    for (const situation of everySituation) {
      for (const age of AGES) {
        const loadedAt = NOW - age;
        if (loadedAt >= situation.entry.loadedAt) continue;
        const older = { ...situation, entry: { ...situation.entry, loadedAt } };
        if (!isServed(situation) && isServed(older)) expect.fail(`served again: ${JSON.stringify(older)}`);
        if (isRenewed(situation) && !isRenewed(older)) expect.fail(`cancelled: ${JSON.stringify(older)}`);
      }
    }
  });

  it('is monotone in time: after a rejected read no later one is served, and a due value stays due', () => {
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
  it('without looking ahead is the instant from which reads within the age limit start a load', () => {
    for (const situation of everyOrdinary) {
      const { entry, rules, now } = situation;
      if (rules.runState !== 'open' || !entry.isLoaded || entry.maxStalenessMs < Infinity) continue;
      expect(starts(situation)).toBe(now >= startableFrom(entry));
    }
  });

  it('starts ahead no further than `aheadMs`, nor into the first half of the period or a cool-down', () => {
    fc.assert(
      fc.property(anySituation, fc.nat(200), ({ entry }, ahead) => {
        const { dueAt, loadedAt, coolDownUntil, deferredUntil } = entry;
        const from = startableFrom({ ...entry, flight: undefined }, ahead);
        expect(from).toBeGreaterThanOrEqual(Math.max(coolDownUntil, deferredUntil));
        if (dueAt >= loadedAt) {
          expect(from).toBeLessThanOrEqual(Math.max(dueAt, coolDownUntil, deferredUntil));
          expect(from).toBeGreaterThanOrEqual(dueAt - ahead);
          expect(from).toBeGreaterThanOrEqual((loadedAt + dueAt) / 2);
        }
        expect(startableFrom({ ...entry, flight }, ahead)).toBe(Infinity);
      }),
      { numRuns: 2000 },
    );
  });
});

it('isDeferred is true exactly where nothing but the deferral keeps a due read from starting a load', () => {
  for (const { entry, rules, now } of everyOrdinary) {
    const undeferred = { ...entry, isLoaded: true, maxStalenessMs: Infinity, deferredUntil: -Infinity };
    const wouldStart =
      rules.runState === 'open' && starts({ entry: undeferred, rules, now, ownMs: Infinity });
    expect(isDeferred(entry, rules.runState, now)).toBe(wouldStart && now < entry.deferredUntil);
  }
});
