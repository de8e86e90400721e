import type { Rule } from '../simulation/referee.ts';
import { ofData } from './data.ts';
import { ofDeployed } from './deployed.ts';
import { ofKeys } from './keys.ts';
import type { Fault } from './plant.ts';

/** A fault that the simulation must find. */
export interface SimulationFault extends Fault {
  /** The rules that it breaks. What else is seen of it is no find. */
  readonly rules: readonly Rule[];
  /** The worlds that find it. */
  readonly seeds: readonly number[];
  /** The kind of the worlds. @default 'cluster' */
  readonly world?: 'data' | 'keys' | 'deployed';
}

export const simulation: readonly SimulationFault[] = [
  {
    name: 'a lease is released whoever holds it',
    rules: [15, 'swaps'],
    seeds: [384],
    in: 'src/records/edited.ts',
    replace: 'amended',
    by: "(record, edit, now) => original(record, record && edit.phase === 'held' ? { ...edit, token: record.token, id: record.id } : edit, now)",
  },
  {
    name: 'a lease is extended whoever holds it',
    rules: [15, 'swaps'],
    seeds: [1392],
    in: 'src/records/edited.ts',
    replace: 'amended',
    by: '(record, edit, now) => original(record, record && edit.phase === undefined ? { ...edit, token: record.token, id: record.id } : edit, now)',
  },
  {
    name: 'the token does not grow when an expired lease is taken over',
    rules: [12],
    seeds: [4],
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: `(record, claim, now) => {
      const { next, isDone } = original(record, claim, now);
      const isTaken = isDone && record !== undefined && record.phase !== 'held' && next !== record;
      return { next: isTaken ? { ...next, token: record.token } : next, isDone };
    }`,
  },
  {
    name: 'a lease that is abandoned does not bring back the hold that it has replaced',
    rules: [14],
    seeds: [14],
    in: 'src/records/edited.ts',
    replace: 'amended',
    by: '(record, edit, now) => original(record, { ...edit, restores: false }, now)',
  },
  {
    name: 'a failed round is held for longer than its backoff',
    rules: [14],
    seeds: [4],
    in: 'src/cluster/round.ts',
    replace: 'Round.#failure',
    by: `(error) => {
      const outcome = original(error);
      return () => {
        const failed = outcome();
        return { ...failed, holdFor: failed.holdFor + 10_000 };
      };
    }`,
  },
  {
    name: 'a failed round is released as done',
    rules: [14],
    seeds: [4],
    in: 'src/cluster/round.ts',
    replace: 'Round.#failure',
    by: `(error) => {
      const outcome = original(error);
      return () => ({ as: 'done', holdFor: outcome().holdFor });
    }`,
  },
  {
    name: 'a forced load starts beside the one under way',
    rules: [1, 6],
    seeds: [7],
    in: 'src/engine/loader.ts',
    replace: 'Loader.startNow',
    by: `(entry, trigger, background) => {
      if (trigger === 'forced') entry.flight = undefined;
      original(entry, trigger, background);
    }`,
  },
  {
    name: 'a flight that is ended does not abort its load',
    rules: [1],
    seeds: [4],
    in: 'src/engine/flight.ts',
    replace: 'Flight.end',
    by: '() => { if (!this.#isOver) this.#close(); }',
  },
  {
    name: 'a late result is accepted',
    rules: [6, 7],
    seeds: [7],
    in: 'src/engine/flight.ts',
    replace: 'Flight.#settle',
    by: '(end) => { this.#close(); this.#host.settled(this, end); }',
  },
  {
    name: 'a superseded load has no successor',
    rules: [4, 19],
    seeds: [7],
    in: 'src/engine/loader.ts',
    replace: 'Loader.#startSuccessor',
    by: `(entry, trigger) => {
      if (!entry.waiters?.hasReaders) original(entry, trigger);
    }`,
  },
  {
    name: 'no cool-down before the first success',
    rules: [5],
    seeds: [8],
    in: 'src/engine/decide.ts',
    replace: 'decide',
    by: `(entry, rules, now) => {
      const coolDownUntil = entry.isLoaded ? entry.coolDownUntil : -Infinity;
      return original({ ...entry, coolDownUntil }, rules, now);
    }`,
  },
  {
    name: 'Retry-After is not obeyed',
    rules: [5],
    seeds: [7],
    in: 'src/engine/retry-after.ts',
    replace: 'retryAfterMs',
    by: '() => 0',
  },
  {
    name: 'the age counts from the start of the load',
    rules: [17],
    seeds: [1],
    in: 'src/engine/timing.ts',
    replace: 'Timing.succeeded',
    by: `(entry, result, startedAt) => {
      const coolingDown = original(entry, result, startedAt);
      entry.loadedAt = startedAt;
      return coolingDown;
    }`,
  },
  {
    name: 'the cool-down follows the wall clock',
    rules: [5, 9, 'starts'],
    seeds: [4],
    in: 'src/engine/timing.ts',
    replace: 'Timing.failed',
    by: `(entry, error) => {
      const coolingDown = original(entry, error);
      entry.coolDownUntil = coolingDown.until - entry.clockOffset;
      return coolingDown;
    }`,
  },
  {
    name: 'a step of the wall clock is not noticed',
    rules: [9],
    seeds: [1],
    in: 'src/engine/timing.ts',
    replace: 'Timing.compareClocks',
    by: '(entry, now) => { entry.setDue(entry.dueAt, now, now + CHECK_CLOCKS_EVERY_MS); }',
  },
  {
    name: 'the heap of a group does not learn of another schedule',
    rules: ['group'],
    seeds: [45],
    in: 'src/engine/loader.ts',
    replace: 'Loader.rescheduled',
    by: '(entry) => { this.timing.rescheduled(entry); }',
  },
  {
    name: "the caller's AsyncLocalStorage reaches the load",
    rules: [10],
    seeds: [1],
    in: 'src/engine/detached-context.ts',
    replace: 'inDetachedContext',
    by: '(action) => action()',
  },
  {
    name: 'the error of a listener reaches the engine',
    rules: [3, 6],
    seeds: [7],
    in: 'src/observe/call-user-code.ts',
    replace: 'callUserCode',
    by: '(callback) => { callback(); }',
  },
  {
    name: 'the renewal goes on after the release',
    rules: [15],
    seeds: [2],
    in: 'src/cluster/held-lease.ts',
    replace: 'HeldLease.stop',
    by: '() => {}',
  },
  {
    name: 'a lease is trusted past its end',
    rules: [15],
    seeds: [5],
    in: 'src/cluster/held-lease.ts',
    replace: 'HeldLease.leftMs',
    by: '() => this.#validUntil + 3000 - this.#clock.monotonic()',
  },
  {
    name: 'a lease counts from its answer',
    rules: [11],
    seeds: [4],
    in: 'src/cluster/acquire-lease.ts',
    replace: 'acquireLease',
    by: `async (source, wanted, pending, clock, patience) => {
      const { answer, sentAt } = await original(source, wanted, pending, clock, patience);
      if (answer.kind !== 'acquired') return { answer, sentAt };
      const end = clock.monotonic() + wanted.leaseFor;
      const held = new HeldLease(source, answer.held.id, end, clock, wanted.leaseFor);
      return { answer: { ...answer, held }, sentAt };
    }`,
  },
  {
    name: 'a result is published without its token',
    rules: [11],
    seeds: [2],
    in: 'src/cluster/snapshot-writer.ts',
    replace: 'SnapshotWriter.write',
    by: `(entry, value, metadata, lease, ...known) =>
      original(entry, value, metadata, lease && { id: {}, isLost: lease.isLost }, ...known)`,
  },
  {
    name: 'a snapshot is as young as its read',
    rules: [17],
    seeds: [2],
    in: 'src/cluster/member-store.ts',
    replace: 'MemberStore.read',
    by: `async (...args) => {
      const writtenAt = this.#context.options.clock.monotonic();
      const snapshot = await original(...args);
      return snapshot && { ...snapshot, writtenAt, loadedAt: writtenAt - snapshot.age };
    }`,
  },
  {
    name: 'an instance that defers to another does so for ever',
    rules: [13],
    seeds: [6],
    in: 'src/cluster/remote-result.ts',
    replace: 'Deferral.applyTo',
    by: '(entry, timing) => { original(entry, timing); entry.deferredUntil = Infinity; }',
  },
  {
    name: 'a lock that is unavailable is an error where loads may go without',
    rules: [16],
    seeds: [9],
    in: 'src/cluster/member-lock.ts',
    replace: 'MemberLock.acquire',
    by: `async (entry, ...args) => {
      const answer = await original(entry, ...args);
      if (answer.kind === 'unavailable' && !entry.isLoaded) throw answer.error;
      return answer;
    }`,
  },
  {
    name: 'each due read adopts what is in the store',
    rules: [7],
    seeds: [272],
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.known',
    by: `async (isForced) => {
      const known = await original(isForced);
      if (known !== undefined || isForced) return known;
      const snapshot = await this.#read(0);
      return snapshot && this.#adopted(snapshot);
    }`,
  },
  {
    name: 'get resolves with the first value for ever',
    rules: ['results'],
    seeds: [1],
    in: 'src/engine/entry.ts',
    replace: 'Entry.putValue',
    by: `(value) => {
      const { promise } = this;
      original(value);
      this.promise = promise ?? this.promise;
    }`,
  },
  {
    name: 'the age limit counts from the due time',
    rules: ['results'],
    seeds: [1],
    in: 'src/engine/decide.ts',
    replace: 'isTooStale',
    by: `(entry, now, ownMs) =>
      original({ ...entry, loadedAt: Math.max(entry.loadedAt, entry.dueAt ?? 0) }, now, ownMs)`,
  },
  {
    name: 'a value that is due is refused as if it were too old',
    rules: ['results'],
    seeds: [1],
    in: 'src/engine/decide.ts',
    replace: 'decide',
    by: `(entry, rules, now, ownMs) => {
      const decision = original(entry, rules, now, ownMs);
      const isRefused = rules.whenTooStale === 'throw' && entry.maxStalenessMs < Infinity;
      return isRefused && isDue(entry, now) ? decision.replace('serve', 'reject') : decision;
    }`,
  },
  {
    name: 'a load has half of its time',
    rules: ['timeout'],
    seeds: [4],
    in: 'src/engine/flight.ts',
    replace: 'Flight.#startDeadline',
    by: `(now) => {
      if (this.#deadlineAt < Infinity) this.#deadlineAt -= this.#timeoutMs / 2;
      original(now);
    }`,
  },
  {
    name: 'a load is tried once too often',
    rules: ['retry'],
    seeds: [10],
    in: 'src/engine/retry.ts',
    replace: 'retrying',
    by: `(attempt, options, scope) =>
      original(attempt, { ...options, retries: (options.retries ?? 10) + 1 }, scope)`,
  },
  {
    name: 'a background load keeps the process alive',
    rules: [8],
    seeds: [1],
    in: 'src/engine/flight.ts',
    replace: 'Flight.#addTimer',
    by: `(callback, delayMs) => {
      original(callback, delayMs);
      for (const timer of this.#timers) timer.ref();
    }`,
  },
  {
    name: 'the cool-down outlives a success',
    rules: ['starts'],
    seeds: [1325],
    in: 'src/engine/timing.ts',
    replace: 'Timing.succeeded',
    by: `(entry, result, startedAt) => {
      const { coolDownUntil } = entry;
      const coolingDown = original(entry, result, startedAt);
      entry.coolDownUntil = coolDownUntil;
      return coolingDown;
    }`,
  },
  {
    name: 'a value that was set is never due',
    rules: ['starts'],
    seeds: [10],
    in: 'src/engine/timing.ts',
    replace: 'Timing.succeeded',
    by: `(entry, result, startedAt) => {
      const coolingDown = original(entry, result, startedAt);
      if (result.origin === 'set') entry.dueAt = entry.freshUntil = Infinity;
      return coolingDown;
    }`,
  },
  {
    name: 'close does not settle the readers that wait',
    rules: [4],
    seeds: [37],
    in: 'src/engine/waiters.ts',
    replace: 'Waiters.reject',
    by: "(error, settled) => { if (error?.code !== 'CLOSED') original(error, settled); }",
  },
  {
    name: 'a fresh read counts as a stale one',
    rules: ['results'],
    seeds: [2],
    in: 'src/engine/reader.ts',
    replace: 'Reader.#emitStale',
    by: `(entry) => {
      const age = this.#options.clock.monotonic() - entry.loadedAt;
      this.#events.emit('stale-served', { age, ...keyOf(entry) });
    }`,
  },
  {
    name: 'reads do not compare the clocks',
    rules: [9],
    seeds: [2],
    in: 'src/engine/loader.ts',
    replace: 'Loader.checkClocks',
    by: '() => this.options.clock.monotonic()',
  },
  {
    name: 'a group does not learn that a member was resumed',
    rules: ['group'],
    seeds: [10],
    in: 'src/group/entry-member.ts',
    replace: 'EntryMember.stateChanged',
    by: "() => { if (this.#member.engine.runState === 'closed') original(); }",
  },
  {
    name: 'getMany gives the value of the next key',
    rules: ['results'],
    seeds: [1],
    in: 'src/cache/read-many.ts',
    replace: 'collect',
    by: `(member, asked, results, onError) =>
      original(member, [...asked.slice(1), asked[0]], results, onError)`,
  },
  {
    name: 'a key that is evicted during its load is forgotten',
    rules: [1, 6, 'changed'],
    seeds: [91],
    in: 'src/cache/keyed-entries.ts',
    replace: 'KeyedEntries.gone',
    by: `(id, key, isEvicted) => {
      original(id, key, isEvicted);
      if (this.#active.get(id)?.pins === 0) this.#active.delete(id);
    }`,
  },
  {
    name: 'lockAtLeastFor is ignored',
    rules: ['tasks'],
    seeds: [2],
    in: 'src/cluster/locked-task.ts',
    replace: 'lockedTask',
    by: '(task, options) => original(task, { ...options, lockAtLeastFor: 0 })',
  },
  {
    name: 'lockAtLeastFor counts from the request of the lease',
    rules: ['tasks'],
    seeds: [1],
    in: 'src/cluster/held-lease.ts',
    replace: 'HeldLease.release',
    by: `(outcome) => {
      const sentAt = this.#validUntil - this.#leaseFor;
      return original(() => {
        const { as, holdFor } = outcome();
        const sinceRequest = sentAt + this.#leaseFor / 2 - this.#clock.monotonic();
        return as === 'done' && this.id.name === 'nightly' ? { as, holdFor: Math.max(0, sinceRequest) } : outcome();
      });
    }`,
  },
  {
    name: 'lockAtLeastFor counts from the end of the task',
    rules: ['tasks'],
    seeds: [1],
    in: 'src/cluster/held-lease.ts',
    replace: 'HeldLease.release',
    by: `(outcome) =>
      original(() => {
        const { as, ...others } = outcome();
        const isOfTask = as === 'done' && this.id.name === 'nightly';
        return isOfTask ? { as, holdFor: this.#leaseFor / 2 } : { as, ...others };
      })`,
  },
  {
    name: 'the slack of a hold carries a value beyond its age limit',
    rules: ['results'],
    seeds: [23],
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'ageLimitOf',
    by: '() => Infinity',
  },
  {
    name: 'a replacement is emitted twice',
    rules: ['changed'],
    seeds: [1],
    in: 'src/engine/changes.ts',
    replace: 'Changes.note',
    by: `(...replacement) => {
      original(...replacement);
      original(...replacement);
    }`,
  },
  {
    name: 'an adopted snapshot replaces a value without an event',
    rules: ['changed'],
    seeds: [2],
    in: 'src/engine/changes.ts',
    replace: 'Changes.note',
    by: "(entry, value, cause, version) => { if (cause !== 'adopted') original(entry, value, cause, version); }",
  },
  {
    name: 'the value before a replacement is the new one',
    rules: ['changed'],
    seeds: [1],
    in: 'src/engine/changes.ts',
    replace: 'Changes.note',
    by: '(entry, value, cause, version) => original({ ...entry, value }, value, cause, version)',
  },
  ...ofData,
  ...ofKeys,
  ...ofDeployed,
];
