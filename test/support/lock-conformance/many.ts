import type {
  AcquireAnswer,
  AcquireRequest,
  Lease,
  LeaseId,
  LockProvider,
  ReleaseOutcome,
} from '../../../src/cluster/lock-contract.ts';
import { ensure, namesOf, ofKind, rejects, same, sameFields, sameList } from '../../../src/testing/assert.ts';
import { AWKWARD_NAMES, namesFrom, sleep } from '../../../src/testing/conformance.ts';
import { type LockCaseContext, OUTCOMES } from '../../../src/testing/lock/case-context.ts';
import { withTimeout } from '../../../src/time/with-timeout.ts';
import { type BackendCase, subjectOf, unreachableIn } from './backend-case.ts';

/** More than one command of many services may contain. */
const MORE_NAMES = 101;

/** A case of several names that are asked for at once: the steps of one turn of the event loop may share a command. */
function manyCase(
  name: string,
  run: (context: LockCaseContext, one: Many, another: Many) => Promise<void>,
  needs?: BackendCase['needs'],
): BackendCase {
  return {
    name: `many: ${name}`,
    needs,
    run: (context) => run(context, new Many(context, context.lock), new Many(context, context.other)),
  };
}

/** The steps of a lock for several names at once. */
class Many {
  readonly #context: LockCaseContext;
  readonly #lock: LockProvider;

  constructor(context: LockCaseContext, lock: LockProvider) {
    this.#context = context;
    this.#lock = lock;
  }

  acquire(requests: readonly AcquireRequest[]): Promise<AcquireAnswer[]> {
    return Promise.all(requests.map((request) => this.#lock.acquire(request)));
  }

  /** The kinds of the answers. */
  async kinds(requests: readonly AcquireRequest[]): Promise<string[]> {
    return kindsOf(await this.acquire(requests));
  }

  /** The leases of names that are free. */
  leases(names: readonly string[], given: Partial<AcquireRequest> = {}): Promise<Lease[]> {
    return Promise.all(names.map((name) => this.#context.lease({ name, ...given }, this.#lock)));
  }

  /** @param outcomes of the leases, or one of all. */
  release(
    leases: readonly LeaseId[],
    outcomes: ReleaseOutcome | readonly ReleaseOutcome[],
  ): Promise<boolean[]> {
    const all = [outcomes].flat();
    return Promise.all(
      leases.map((lease, i) => this.#lock.release(lease, (all[i] ?? all[0]) as ReleaseOutcome)),
    );
  }

  /** @param lengths of the leases, or one of all. */
  extend(leases: readonly LeaseId[], lengths: number | readonly number[]): Promise<boolean[]> {
    const all = [lengths].flat();
    return Promise.all(leases.map((lease, i) => this.#lock.extend(lease, (all[i] ?? all[0]) as number)));
  }
}

const kindsOf = (answers: readonly AcquireAnswer[]): string[] => answers.map(({ kind }) => kind);

/** The steps for several names at once. */
export const MANY: readonly BackendCase[] = [
  manyCase('each request gets the answer for its name', async (context, one) => {
    const names = namesFrom(context.name, ['z', 'held', 'a', 'done', 'failed', 'm']);
    const [z, held, a, done, failed, m] = names;
    const lease = await context.lease({ name: held }, context.other);
    await context.release(await context.lease({ name: done }), { as: 'done', holdFor: context.long });
    await context.release(await context.lease({ name: failed }), { as: 'failed', holdFor: context.long });
    const requests = names.map((name, i) =>
      context.request({ name, leaseFor: (i + 1) * context.long, host: `host-${i}` }),
    );
    const answers = await one.acquire(requests);
    const kinds = ['acquired', 'held', 'acquired', 'done', 'held', 'acquired'];
    sameList(kindsOf(answers), kinds, 'the answers');
    same(ofKind(answers[1] as AcquireAnswer, 'held', held).token, lease.token, 'the token of the holder');
    same(ofKind(answers[4] as AcquireAnswer, 'held', failed).isBackoff, true, 'isBackoff of a failed round');
    for (const [i, name] of [z, a, m].map((name) => [names.indexOf(name), name] as const)) {
      const { owner, requestId, leaseFor, host } = requests[i] as (typeof requests)[number];
      const { lease } = ofKind(answers[i] as AcquireAnswer, 'acquired', name);
      sameFields(lease, { name, owner, requestId }, ' of the lease');
      context.isLeft(lease.remaining, leaseFor, 'remaining');
      sameFields(await context.record(name), { token: lease.token, owner, host }, ' of the record');
      sameFields(await context.held({ name }), { token: lease.token }, ' in a single answer');
    }
  }),

  manyCase('an acquire is the same step as a single one', async (context, one, another) => {
    const names = namesFrom(context.name, ['b', 'a']);
    const tokens = (answers: readonly AcquireAnswer[]): number[] =>
      answers.map((answer) => ofKind(answer, 'acquired', 'acquire').lease.token);
    const kept = namesFrom(context.name, ['d', 'c']).map((name) => context.request({ name }));
    const once = tokens(await one.acquire(kept));
    sameList(tokens(await another.acquire(kept)), once, 'the tokens of repeated requests');
    const first = await one.leases(names, { leaseFor: context.unit });
    for (const name of names) await context.expired(name);
    const next = await another.acquire(names.map((name) => context.request({ name })));
    for (const [i, answer] of next.entries()) {
      const { lease, tookOver } = ofKind(answer, 'acquired', 'next');
      const before = first[i]?.token ?? Infinity;
      ensure(lease.token > before, `the token must grow: ${before} before, ${lease.token} now`);
      same(tookOver, true, 'tookOver');
    }
  }),

  manyCase('the force of one name is that of no other', async (context, one) => {
    const names = namesFrom(context.name, ['c', 'b', 'a']);
    await one.release(await one.leases(names), { as: 'done', holdFor: context.long });
    const requests = names.map((name, i) => context.request({ name, force: i === 1 }));
    sameList(await one.kinds(requests), ['done', 'acquired', 'done'], 'the answers');
  }),

  manyCase('each lease ends with its own outcome', async (context, one, another) => {
    const ends = OUTCOMES.map((_, i) => `${9 - i}`);
    const names = namesFrom(context.name, ends);
    const leases = await one.leases(names);
    const yes = OUTCOMES.map(() => true);
    const show = async (): Promise<unknown[]> => {
      const records = await Promise.all(names.map((name) => context.record(name)));
      return records.map(({ state, holdLeft, lastError }) => `${state} ${holdLeft > 0} ${lastError}`);
    };
    const ended = OUTCOMES.map((outcome) => {
      const { holdFor = 0, error } = { holdFor: 0, error: undefined, ...outcome };
      return `${outcome.as} ${holdFor > 0} ${error}`;
    });
    sameList(await one.release(leases, OUTCOMES), yes, 'release');
    sameList(await show(), ended, 'the records');
    sameList(await another.release(leases, OUTCOMES), yes, 'a repeat, after a lost reply');
    sameList(await show(), ended, 'the records after the repeat');
  }),

  manyCase('the keepFor of one name is that of no other', async (context, one) => {
    const names = namesFrom(context.name, ['c', 'brief', 'a']);
    const leases = await one.leases(names);
    const brief = { as: 'done', holdFor: 0, keepFor: context.unit } as const;
    const kept = { as: 'done', holdFor: 0 } as const;
    await one.release(leases, [kept, brief, kept]);
    await sleep(3 * context.unit);
    for (const { name, token } of [leases[0], leases[2]] as Lease[]) {
      same((await context.record(name)).token, token, `the token of ${name}`);
    }
  }),

  manyCase('a lease that is over or of another holder is left alone', async (context, one) => {
    const names = namesFrom(context.name, ['own', 'expired', 'token', 'request', 'absent', 'also own']);
    const [own, expired, token, request, absent, also] = names;
    const old = await context.lease({ name: expired, leaseFor: context.unit });
    await context.expired(expired);
    const leases = [
      await context.lease({ name: own }),
      old,
      { ...(await context.lease({ name: token })), token: 1 },
      { ...(await context.lease({ name: request })), requestId: 'another' },
      { ...old, name: absent },
      await context.lease({ name: also }),
    ];
    const outcome = { as: 'done', holdFor: context.long } as const;
    const answers = await one.release(leases, outcome);
    sameList(answers, [true, false, false, false, false, true], 'release');
    const records = await Promise.all(names.map((name) => context.other.inspect(name)));
    const states = records.map((record) => record?.state);
    sameList(states, ['done', 'running', 'running', 'running', undefined, 'done'], 'the states');
  }),

  manyCase(
    'each lease is extended by its own leaseFor, and no other is touched',
    async (context, one, another) => {
      const { unit, long } = context;
      const ends = ['more', 'expired', 'token', 'request', 'absent', 'less', 'done'] as const;
      const [more, expired, token, request, absent, less, done] = namesFrom(context.name, ends);
      const old = await context.lease({ name: expired, leaseFor: unit });
      await context.expired(expired);
      const ended = await context.lease({ name: done });
      const leases = [
        await context.lease({ name: more }),
        old,
        { ...(await context.lease({ name: token })), token: 1 },
        { ...(await context.lease({ name: request })), requestId: 'another' },
        { ...old, name: absent },
        await context.lease({ name: less }),
        ended,
      ];
      await context.release(ended, { as: 'done', holdFor: long });
      const lengths = [2 * long, long, long, long, long, 30 * unit, long];
      const expected = [true, false, false, false, false, true, false];
      sameList(await one.extend(leases, lengths), expected, 'extend');
      sameList(await another.extend(leases, lengths), expected, 'a repeat, after a lost reply');
      const isLeft = async (name: string, of: number): Promise<void> =>
        context.isLeft((await context.record(name)).leaseLeft, of, `what is left of ${name}`);
      await isLeft(more, 2 * long);
      await isLeft(less, 30 * unit);
      for (const name of [token, request]) await isLeft(name, long);
      same((await context.record(expired)).leaseLeft, 0, 'what is left of one that had expired');
      same((await context.record(done)).state, 'done', 'the state of one that had ended');
      same(await context.other.inspect(absent), undefined, 'the record of a name without a lease');
    },
  ),

  manyCase(
    'of overlapping calls in opposite order each name has one winner',
    async (context, one, another) => {
      const ends = Array.from({ length: 30 }, (_, i) => `${i}`);
      const names = namesFrom(context.name, ends);
      for (const round of [1, 2]) {
        const answers = await Promise.all(
          [one, another, one, another].map((many, i) => {
            const ordered = i % 2 === 0 ? names : names.toReversed();
            return many.acquire(ordered.map((name) => context.request({ name })));
          }),
        );
        const won = answers.flat().flatMap((answer) => (answer.kind === 'acquired' ? [answer.lease] : []));
        sameList(namesOf(won).sort(), [...names].sort(), `the winners of round ${round}`);
        const reversed = won.toReversed();
        const extended = await Promise.all([
          one.extend(won, context.long),
          another.extend(reversed, context.long),
        ]);
        same(extended.flat().indexOf(false), -1, 'the index of an extension without effect');
        const both = [one.release(won, { as: 'abandoned' }), another.release(reversed, { as: 'abandoned' })];
        same((await Promise.all(both)).flat().indexOf(false), -1, 'the index of a release without effect');
      }
    },
  ),

  manyCase(`${MORE_NAMES} names at once, and awkward ones`, async (context, one) => {
    const ends = [
      ...AWKWARD_NAMES,
      ...Array.from({ length: MORE_NAMES }, (_, i) => `${i}-${AWKWARD_NAMES[i % 30]}`),
    ];
    const names = namesFrom(context.name, ends);
    const leases = await one.leases(names);
    sameList(namesOf(leases), names, 'the names of the leases');
    const extended = await one.extend(leases, 2 * context.long);
    same(extended.indexOf(false), -1, 'the index of an extension without effect');
    const ended = await one.release(leases, { as: 'done', holdFor: 0 });
    same(ended.indexOf(false), -1, 'the index of a release without effect');
    const listed = await context.listed(names.length, context.name, names.length + 1);
    same(listed.length, names.length, 'how many records');
    same(listed.filter(({ state }) => state === 'done').length, names.length, 'how many are done');
  }),

  manyCase(
    'a damaged record is that of its name alone',
    async (context, one) => {
      const names = namesFrom(context.name, ['a', 'b', 'c']);
      await one.leases(names);
      await subjectOf(context).damage?.(names[1], 'leaseUntil');
      const [a, b, c] = await one.acquire(names.map((name) => context.request({ name })));
      same(a?.kind, 'held', 'the first');
      const { damage } = ofKind(b as AcquireAnswer, 'acquired', 'the damaged one');
      ensure(typeof damage === 'string', `the damage must be reported, got ${damage}`);
      same(c?.kind, 'held', 'the last');
    },
    'damage',
  ),

  manyCase('an invalid request rejects with OPTION, and touches no other', async (context, one) => {
    const { lock } = context;
    const good = context.request();
    const [answer] = await Promise.all([
      one.acquire([good]),
      rejects(lock.acquire(context.request({ name: '' })), 'OPTION', 'an empty name'),
      rejects(lock.acquire(context.request({ leaseFor: 0 })), 'OPTION', 'an empty lease'),
    ]);
    const { lease } = ofKind(answer[0] as AcquireAnswer, 'acquired', 'the sound one');
    const [isExtended] = await Promise.all([
      lock.extend(lease, context.long),
      rejects(lock.extend(lease, 0), 'OPTION', 'an extension to nothing'),
    ]);
    same(isExtended, true, 'the sound extension');
  }),

  manyCase('a name that is asked for twice at once has one winner', async (context, one) => {
    const names = namesFrom(context.name, ['a', 'b']);
    const requests = [...names, ...names].map((name) => context.request({ name }));
    const kinds = await one.kinds(requests);
    sameList(kinds.toSorted(), ['acquired', 'acquired', 'held', 'held'], 'the answers');
    for (const i of [0, 1]) ensure(kinds[i] !== kinds[i + 2], `both requests for one name are ${kinds[i]}`);
  }),

  manyCase(
    'an unreachable backend rejects with BACKEND_DOWN, within ten seconds',
    async (context) => {
      const lock = await unreachableIn(context);
      const steps = namesFrom(context.name, ['a', 'b', 'c', 'd', 'e', 'f']).flatMap((name) => {
        const request = context.request({ name });
        const lease = { ...request, token: 1 };
        return [
          rejects(lock.acquire(request), 'BACKEND_DOWN', 'acquire'),
          rejects(lock.release(lease, { as: 'abandoned' }), 'BACKEND_DOWN', 'release'),
          rejects(lock.extend(lease, 1000), 'BACKEND_DOWN', 'extend'),
        ];
      });
      await withTimeout(() => Promise.all(steps), 10_000);
    },
    'unreachable',
  ),
];
