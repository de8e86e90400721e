import type { LeaseLeft } from '../data/close-report.ts';
import { deadlineOf, type Entry, keyOf } from '../engine/entry.ts';
import type { TicklessError } from '../errors.ts';
import { acquireLease, type LeaseSource, TRIES } from './acquire-lease.ts';
import { SilenceError } from './answer-watch.ts';
import { type BackendAccess, type BackendReply, withStepTimeout } from './backend-access.ts';
import { acquireSilenceMs, type BackendPatience, stepLimits } from './backend-patience.ts';
import type { ClaimAnswer, LockSteps, Settled, SnapshotChange } from './backend-steps.ts';
import { type ClusterState, clusterStateOf } from './cluster-state.ts';
import { countedSteps } from './counted-steps.ts';
import type { HeldLease } from './held-lease.ts';
import { thisHost } from './identity.ts';
import { LeaseRequests } from './lease-requests.ts';
import type { ReleaseOutcome } from './lock-contract.ts';
import type { MemberContext } from './member-context.ts';
import { MemberRuns } from './member-runs.ts';
import { OpenLeases } from './open-leases.ts';
import { OutageEvents } from './outage-events.ts';
import { isPlausibleToken } from './plausible.ts';
import { type Registrar, register } from './registration.ts';
import type { ServerClock } from './server-clock.ts';
import { unavailable, unavailableCause } from './unavailable.ts';

type DistributiveOmit<U, K extends PropertyKey> = U extends unknown ? Omit<U, K> : never;

type LeaseAnswer = Awaited<ReturnType<typeof acquireLease>>;

/** The snapshot of the name, as far as the answer has it. */
export interface Looked {
  /** When it was asked (monotonic). */
  readonly sentAt: number;
  /** The snapshot was asked for if it is newer than this. `undefined`: it was not asked for. */
  readonly newerThan: number | undefined;
  readonly newer?: ClaimAnswer['newer'];
  readonly pinnedFor?: ClaimAnswer['pinnedFor'];
}

/** The answer of the lock, with the lease where there is one. */
export type Acquired =
  | (Looked & {
      readonly kind: 'acquired';
      readonly lease: HeldLease;
    })
  | (Extract<ClaimAnswer, { readonly kind: 'held' | 'done' }> & Looked)
  | {
      readonly kind: 'unavailable';
      readonly error: TicklessError;
      /** Milliseconds: it was not asked, and will not be for this long. 0: it was asked. */
      readonly notAskedFor: number;
    };

/** The lock as one member uses it: asks it and reports what happens. */
export class MemberLock {
  readonly #context: MemberContext;
  readonly #access: BackendAccess<LockSteps>;
  readonly #source: LeaseSource;
  readonly #serverClock: ServerClock | undefined;
  readonly #requests: LeaseRequests;
  readonly #outages: OutageEvents;
  readonly #open: OpenLeases = new OpenLeases();
  /** Those of a task; `undefined`: the lock keeps none. */
  readonly runs: MemberRuns | undefined;
  /** Why the last lease could not be had although the lock may be well: a record is damaged. */
  #leaseError: unknown;

  constructor(
    context: MemberContext,
    access: BackendAccess<LockSteps>,
    serverClock: ServerClock | undefined,
  ) {
    this.#context = context;
    this.#access = access;
    const { answers, limitMs, backgroundTimeoutMs } = access;
    const { runs } = access.steps;
    this.runs = runs && new MemberRuns(context, access, runs);
    const { events, options } = context;
    const counted = countedSteps(access.steps, ['acquire', 'extend', 'release'], () => {
      events.counters.lockCommands += 1;
    });
    const steps: LeaseSource['steps'] = {
      acquire: counted.acquire,
      extend: async (...lease) => answers.hear(Promise.resolve(counted.extend(...lease)), options.clock),
      release: async (...end) => answers.hear(Promise.resolve(counted.release(...end)), options.clock),
    };
    this.#outages = new OutageEvents('lock', events, (cause) => unavailable(cause, options.name));
    this.#source = { steps, answers, limitMs, backgroundTimeoutMs };
    this.#serverClock = serverClock;
    this.#requests = new LeaseRequests(context.options.clock, access.steps.leaseFor);
  }

  /** Why it could not be asked the last time. */
  get error(): TicklessError | undefined {
    const { isTripped, cause = this.#leaseError } = this.#access.breaker;
    return isTripped || cause !== undefined ? unavailable(cause, this.#context.options.name) : undefined;
  }

  /**
   * Asks for the lease of an entry. A lock that can't be asked is a result here.
   *
   * @param newerThan the snapshot is asked for too, if there is one that is newer than this. @default it is not
   * @throws {TicklessError} `OPTION` when the lock does not accept the name of the entry.
   */
  async acquire(
    entry: Entry<unknown>,
    force: boolean,
    patienceOf: () => BackendPatience,
    newerThan?: number,
  ): Promise<Acquired> {
    const access = this.#access;
    const { clock, timeoutMs } = this.#context.options;
    const { leaseFor, longestName } = access.steps;
    const state = clusterStateOf(entry);
    const name = await this.#context.names.atBackend(entry, longestName);
    const patience = patienceOf();
    const silenceMs = acquireSilenceMs(access.limitMs, patience, clock.monotonic());
    let isUnanswered = false;
    const step = async (isProbe: boolean): Promise<LeaseAnswer> => {
      try {
        const limits = stepLimits(silenceMs, { timeoutMs, leftMs: deadlineOf(entry) - clock.monotonic() });
        const wanted = { name, leaseFor, force, newerThan };
        return await acquireLease(this.#source, wanted, this.#requests, clock, {
          tries: isProbe ? 1 : TRIES,
          limits,
        });
      } catch (error) {
        isUnanswered = !isProbe && error instanceof SilenceError;
        throw error;
      }
    };
    let asked = await access.ask(step, clock, patience);
    // The lock may have given the lease, and no reader is kept waiting.
    if (isUnanswered && patienceOf().waitsForProbe !== false) asked = await access.askAgain(step, clock);
    if (asked.kind === 'open') {
      void asked.probe?.then(
        (probed) => {
          const acquired = this.#acquired(entry, state, probed, newerThan);
          if (acquired.kind === 'acquired') void this.release(acquired.lease, () => ({ as: 'abandoned' }));
        },
        () => {}, // a name that the lock does not accept: the next load reports it
      );
    }
    return this.#acquired(entry, state, asked, newerThan);
  }

  /** Makes its name known to operators: of a cache that of the cache. Rejects with `BACKEND_DOWN`, and for a name that the lock does not accept. */
  async register(): Promise<void> {
    const { steps, limitMs } = this.#access;
    const { clock, name: member } = this.#context.options;
    const { leaseFor, longestName } = steps;
    const name = await this.#context.names.atBackend({ id: undefined, key: undefined }, longestName);
    const registrar: Registrar = {
      leaseFor,
      inspect: () => withStepTimeout(() => steps.inspect(name), clock, limitMs),
      acquire: async (leaseMs, owner) => {
        const wanted = { name, leaseFor: leaseMs, owner, force: false };
        const { answer } = await acquireLease(this.#source, wanted, new LeaseRequests(clock), clock, {
          tries: TRIES,
        });
        return answer.kind === 'acquired' ? answer.held : undefined;
      },
    };
    const asked = await this.#access.ask(() => register(registrar), clock);
    if (asked.kind !== 'answered') throw unavailable(asked.cause, member);
  }

  /** Releases a lease. Never rejects. @returns whether it was released at once. */
  release(lease: HeldLease, outcome: () => ReleaseOutcome): Promise<boolean> {
    return this.#access.run(() => lease.release(outcome, () => this.#open.delete(lease)));
  }

  /** Changes the snapshot of a name and ends its lease in one step. */
  async settle(lease: HeldLease, outcome: ReleaseOutcome, change: SnapshotChange): Promise<Settled> {
    const { settle } = this.#access.steps;
    this.#context.events.counters.storeCommands += 1;
    const settled = await (settle as NonNullable<typeof settle>)(lease.id, outcome, change);
    if (settled.written.kind === 'lost') lease.taken();
    else if (settled.isReleased) {
      lease.released();
      this.#open.delete(lease);
    }
    return settled;
  }

  /** The leases that may still be held at the backend. */
  get leases(): readonly LeaseLeft[] {
    return this.#open.of(this.#context.options.name);
  }

  /**
   * Gives back leases whose answers are still awaited: asked for once more, they are known. Never rejects; takes at most one time-out of
   * the lock.
   */
  async close(): Promise<void> {
    const { leaseFor } = this.#access.steps;
    const giveBack = async (name: string): Promise<void> => {
      const wanted = { name, leaseFor, force: false };
      const { clock } = this.#context.options;
      const { answer } = await acquireLease(this.#source, wanted, this.#requests, clock, { tries: 1 });
      if (answer.kind === 'acquired') await answer.held.release(() => ({ as: 'abandoned' }));
    };
    await Promise.allSettled(this.#requests.names.map(giveBack));
  }

  #acquired(
    entry: Entry<unknown>,
    state: ClusterState,
    asked: BackendReply<LeaseAnswer>,
    newerThan: number | undefined,
  ): Acquired {
    const { options, log } = this.#context;
    this.#outages.note(this.#access.breaker.outage);
    switch (asked.kind) {
      case 'open': {
        const error = unavailable(asked.cause, options.name, entry.key);
        return { kind: 'unavailable', error, notAskedFor: asked.openFor };
      }
      case 'failed': {
        const { isTripped } = this.#access.breaker;
        if (!isTripped) this.#leaseError = asked.cause;
        log.lockFailed(entry, unavailableCause(asked.cause), isTripped);
        const error = unavailable(asked.cause, options.name, entry.key);
        return { kind: 'unavailable', error, notAskedFor: 0 };
      }
      case 'answered': {
        log.lockAnswered(entry);
        this.#leaseError = undefined;
        const { answer, sentAt } = asked.answer;
        this.#serverClock?.learn(answer.now, sentAt);
        const { newer } = answer;
        return { ...this.#accept(entry, state, answer), sentAt, newerThan, newer };
      }
    }
  }

  #accept(
    entry: Entry<unknown>,
    state: ClusterState,
    answer: LeaseAnswer['answer'],
  ): DistributiveOmit<Exclude<Acquired, { readonly kind: 'unavailable' }>, keyof Looked> {
    if (!isPlausibleToken(Math.max(state.held.version, state.adoptAbove), answer.now)) {
      // The backend's clock was set back by more than a year. Later versions are lower, and adopted if they were loaded later.
      state.happened({ on: 'clock set back' });
    }
    if (answer.kind !== 'acquired') {
      const { owner, host, token } = answer;
      state.holder = { owner, host, token };
      return answer;
    }
    const { events, log, options } = this.#context;
    const { owner, token } = answer.lease;
    state.holder = { owner, host: thisHost(), token };
    void this.#access.steps.warning?.().then((text) => text && options.logger.warn(text));
    if (answer.damage !== undefined) log.recordDamaged(entry, answer.damage);
    const { held, tookOver = false } = answer;
    events.round({ outcome: tookOver ? 'took-over' : 'acquired', token, ...keyOf(entry) });
    this.#open.add(held, entry.key);
    return { kind: 'acquired', lease: held };
  }
}
