import type { Fault } from './plant.ts';

/** A way in which the code of a rule can be missing. */
export interface RuleFault extends Fault {
  /** Its tests must see it: test/contract/rules/rule-NN*. */
  readonly rule: number;
}

export const rules: readonly RuleFault[] = [
  {
    rule: 1,
    name: 'a read does not see a load under way',
    in: 'src/engine/decide.ts',
    replace: 'decide',
    by: '(entry, rules, now) => original({ ...entry, flight: undefined }, rules, now)',
  },
  {
    rule: 1,
    name: 'a forced load starts beside the one under way',
    in: 'src/engine/loader.ts',
    replace: 'Loader.startNow',
    by: `(entry, trigger, background) => {
      if (trigger === 'forced') entry.flight = undefined;
      original(entry, trigger, background);
    }`,
  },
  {
    rule: 1,
    name: 'a result that arrives after the deadline is accepted',
    in: 'src/engine/flight.ts',
    replace: 'Flight.#settle',
    by: '(outcome) => { this.#close(); this.settled(outcome); }',
  },
  {
    rule: 2,
    name: 'a due read waits',
    in: 'src/engine/decide.ts',
    replace: 'decide',
    by: `(entry, rules, now) => {
      const decision = original(entry, rules, now);
      return decision === 'serve-and-start' ? 'wait-for-load' : decision;
    }`,
  },
  {
    rule: 2,
    name: 'a reload runs on the stack of the read',
    in: 'src/engine/flight.ts',
    replace: 'Flight.startBehind',
    by: '() => this.start()',
  },
  {
    rule: 2,
    name: 'each read gets a promise of its own',
    in: 'src/value/refreshing-value.ts',
    replace: 'RefreshingValue.get',
    by: '(options) => original(options).then((value) => value)',
  },
  {
    rule: 3,
    name: 'concurrent first reads start a load each',
    in: 'src/engine/loader.ts',
    replace: 'Loader.startNow',
    by: `(entry, trigger, background) => {
      if (trigger === 'first') entry.flight = undefined;
      original(entry, trigger, background);
    }`,
  },
  {
    rule: 3,
    name: 'each reader gets an error of its own',
    in: 'src/engine/waiters.ts',
    replace: 'Waiters.next',
    by: `(signal) => {
      const next = original(signal).catch((error) => { throw new Error(error.message); });
      return ignoreRejection(next);
    }`,
  },
  {
    rule: 4,
    name: 'a synchronous throw of the load is not caught',
    in: 'src/engine/flight.ts',
    replace: 'Flight.#firstTry',
    by: `() => {
      this.#attempts = 1;
      const result = this.#try(1);
      if (typeof result?.then === 'function') return Promise.resolve(result);
      return { kind: 'loaded', result, attempts: 1, isSynchronous: true };
    }`,
  },
  {
    rule: 4,
    name: 'a load has no deadline',
    in: 'src/engine/flight.ts',
    replace: 'Flight.#startDeadline',
    by: '() => {}',
  },
  {
    rule: 4,
    name: 'any result of a schedule is taken',
    in: 'src/engine/next-execution.ts',
    replace: 'askNextExecution',
    by: '(ask, execution) => ask(execution)',
  },
  {
    rule: 5,
    name: 'a failure is followed by no cool-down',
    in: 'src/engine/timing.ts',
    replace: 'Timing.failed',
    by: `(entry, error) => {
      const coolingDown = original(entry, error);
      entry.coolDownUntil = -Infinity;
      return coolingDown;
    }`,
  },
  {
    rule: 5,
    name: 'the jitter of the cool-down goes down to nothing',
    in: 'src/engine/cool-down.ts',
    replace: 'coolDownMs',
    by: '(coolDown, failures, random) => original(coolDown, failures, 1) * random',
  },
  {
    rule: 5,
    name: 'Retry-After is not obeyed',
    in: 'src/engine/retry-after.ts',
    replace: 'retryAfterMs',
    by: '() => 0',
  },
  {
    rule: 6,
    name: 'the rejection of a dropped promise is unhandled',
    in: 'src/time/deferred.ts',
    replace: 'ignoreRejection',
    by: '(promise) => promise',
  },
  {
    rule: 6,
    name: 'a background failure is not logged',
    in: 'src/observe/outage-log.ts',
    replace: 'OutageLog.failed',
    by: '() => {}',
  },
  {
    rule: 7,
    name: 'the load under way answers reads that came after an invalidation',
    in: 'src/engine/loader.ts',
    replace: 'Loader.supersede',
    by: '() => {}',
  },
  {
    rule: 7,
    name: 'set lets the load under way land',
    in: 'src/engine/loader.ts',
    replace: 'Loader.abort',
    by: "(entry, reason) => { if (!reason.message.includes('set()')) original(entry, reason); }",
  },
  {
    rule: 19,
    name: 'an invalidation aborts the load that readers wait for',
    in: 'src/engine/loader.ts',
    replace: 'Loader.supersede',
    by: "(entry) => this.abort(entry, new Error('invalidated'))",
  },
  {
    rule: 19,
    name: 'a load that ignores its signal has lost its place at once',
    in: 'src/engine/loader.ts',
    replace: 'Loader.abort',
    by: `(entry, reason) => {
      original(entry, reason);
      if (entry.flight !== undefined) { entry.flight = undefined; this.active.entries.delete(entry); }
    }`,
  },
  {
    rule: 8,
    name: 'a background load keeps the process alive',
    in: 'src/engine/flight.ts',
    replace: 'Flight.#addTimer',
    by: `(callback, delayMs) => {
      original(callback, delayMs);
      for (const timer of this.#timers) timer.ref();
    }`,
  },
  {
    rule: 8,
    name: 'a reader that waits does not keep the process alive',
    in: 'src/engine/flight.ts',
    replace: 'Flight.ref',
    by: '() => {}',
  },
  {
    rule: 9,
    name: 'durations follow the wall clock',
    in: 'src/engine/next-execution.ts',
    replace: 'afterStep',
    by: '(execution, stepMs, now) => ({ ...original(execution, stepMs, now), endedAt: execution.endedAt })',
  },
  {
    rule: 9,
    name: 'a calendar instant that the clock steps over is skipped',
    in: 'src/engine/next-execution.ts',
    replace: 'afterStep',
    by: `(execution, stepMs, now) => {
      const after = original(execution, stepMs, now);
      return { ...after, since: after.endedAt };
    }`,
  },
  {
    rule: 10,
    name: "the caller's AsyncLocalStorage reaches the load",
    in: 'src/engine/detached-context.ts',
    replace: 'inDetachedContext',
    by: '(action) => action()',
  },
  {
    rule: 10,
    name: "the caller's signal aborts the load",
    in: 'src/engine/waiters.ts',
    replace: 'Waiters.next',
    by: `(signal) => {
      signal?.addEventListener('abort', () => this.#load?.end(signal.reason));
      return original(signal);
    }`,
  },
  {
    rule: 11,
    name: 'a load whose lease is lost goes on',
    in: 'src/cluster/round.ts',
    replace: 'Round.#lost',
    by: '(reason, cause) => { this.#reportLoss(reason, cause); }',
  },
  {
    rule: 11,
    name: 'a result is published although its lease was lost',
    in: 'src/cluster/snapshot-writer.ts',
    replace: 'SnapshotWriter.write',
    by: `(entry, value, metadata, lease) =>
      original(entry, value, metadata, lease && { id: lease.id, isLost: false })`,
  },
  {
    rule: 12,
    name: 'the token is the clock alone',
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: `(record, claim, now) => {
      const { next, isDone } = original(record, claim, now);
      return { next: next === record ? record : { ...next, token: Math.floor(now.wall * 1000) }, isDone };
    }`,
  },
  {
    rule: 12,
    name: 'the token is a counter alone',
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: `(record, claim, now) => {
      const { next, isDone } = original(record, claim, now);
      return { next: next === record ? record : { ...next, token: (record?.token ?? 0) + 1 }, isDone };
    }`,
  },
  {
    rule: 12,
    name: 'the store takes an older token, whose lease is over',
    in: 'src/records/edited.ts',
    replace: 'edited',
    by: `(record, edit, ...about) => {
      if (edit.op === 'amend' && edit.phase === 'held') return { next: record, isDone: true };
      return original(edit.op === 'put' && edit.token !== undefined ? undefined : record, edit, ...about);
    }`,
  },
  {
    rule: 13,
    name: 'a snapshot of an older version is adopted',
    in: 'src/cluster/member-store.ts',
    replace: 'MemberStore.read',
    by: '(entry) => original(entry, 0)',
  },
  {
    rule: 13,
    name: 'an instance reports a version before the store has it',
    in: 'src/cluster/held-version.ts',
    replace: 'versionAfter',
    by: "(held, event) => original(held, event.on === 'loaded' ? { ...event, isShared: false } : event)",
  },
  {
    rule: 13,
    name: 'a value that was set gives way to an older snapshot',
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.#isOlder',
    by: '() => false',
  },
  {
    rule: 14,
    name: 'a failed round is held until the next due time',
    in: 'src/cluster/round.ts',
    replace: 'Round.#failure',
    by: "() => () => ({ as: 'done', holdFor: 3_600_000 })",
  },
  {
    rule: 14,
    name: 'a forced load waits for the hold of a finished round',
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: '(record, claim, now) => original(record, { ...claim, force: false }, now)',
  },
  {
    rule: 15,
    name: 'a late holder releases the lease of the next one',
    in: 'src/records/edited.ts',
    replace: 'amended',
    by: '(record, { id, ...edit }, now) => original(record, { ...edit, token: record?.token }, now)',
  },
  {
    rule: 15,
    name: 'a forced load takes a live lease',
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: '(record, claim, now) => original(claim.force ? undefined : record, claim, now)',
  },
  {
    rule: 15,
    name: 'a lease is not extended while its load runs',
    in: 'src/cluster/held-lease.ts',
    replace: 'HeldLease.renew',
    by: '() => {}',
  },
  {
    rule: 16,
    name: 'an instance asks the lock without a pause while another one has it', // it blocks its process
    in: 'src/cluster/admission.ts',
    replace: 'Admission.run',
    by: '(signal) => original(signal, async () => {})',
  },
  {
    rule: 16,
    name: 'a lock that is held is an error',
    in: 'src/cluster/admission.ts',
    replace: 'Admission.#deferToHolder',
    by: "(answer) => { original(answer); throw new Error('held'); }",
  },
  {
    rule: 16,
    name: 'a lock that is unavailable is asked at each load',
    in: 'src/cluster/circuit-breaker.ts',
    replace: 'CircuitBreaker.openFor',
    by: '() => 0',
  },
  {
    rule: 17,
    name: 'calendars follow the clock of this machine',
    in: 'src/cluster/server-clock.ts',
    replace: 'ServerClock.learn',
    by: '() => {}',
  },
  {
    rule: 17,
    name: 'a snapshot is as young as its read',
    in: 'src/records/store/record-store.ts',
    replace: 'RecordStore.read',
    by: `async (...args) => {
      const stored = await original(...args);
      return stored && { ...stored, age: 0 };
    }`,
  },
  {
    rule: 18,
    name: 'no instance looks into the store before it asks the lock',
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.known',
    by: 'async () => undefined',
  },
  {
    rule: 18,
    name: 'each due read asks a lock that is held',
    in: 'src/cluster/remote-result.ts',
    replace: 'Deferral.applyTo',
    by: '(entry) => { original(entry); entry.deferredUntil = -Infinity; }',
  },
  {
    rule: 21,
    name: 'each failure is a log line',
    in: 'src/observe/outage.ts',
    replace: 'Outage.failed',
    by: '(now, failure) => { original(now, failure); return true; }',
  },
  {
    rule: 31,
    name: 'refused reads are not logged',
    in: 'src/observe/outage.ts',
    replace: 'Outage.refused',
    by: '() => false',
  },
  {
    rule: 31,
    name: 'the log does not say that reads are refused',
    in: 'src/observe/outage.ts',
    replace: 'Outage.refusalLogged',
    by: '() => {}',
  },
  {
    rule: 21,
    name: 'the end of an outage is not logged',
    in: 'src/observe/outage-log.ts',
    replace: 'OutageLog.succeeded',
    by: '() => {}',
  },
  {
    rule: 23,
    name: 'what a guard would refuse is served',
    in: 'src/guard/guarded-load.ts',
    replace: 'guardedLoad',
    by: '(load) => load',
  },
  {
    rule: 23,
    name: 'a snapshot is not checked by the schema of the member',
    in: 'src/cluster/snapshot.ts',
    replace: 'decodeSnapshot',
    by: '(payload, { codec }, reader, budget) => original(payload, { codec }, reader, budget)',
  },
  {
    rule: 23,
    name: 'the output of the schema is not the value',
    in: 'src/engine/load-result.ts',
    replace: 'withCandidate',
    by: '(returned) => returned',
  },
  {
    rule: 23,
    name: 'a value that is set is not checked',
    in: 'src/guard/guarded-load.ts',
    replace: 'schemaArgument',
    by: '(options, key, value) => value',
  },
  {
    rule: 23,
    name: 'a restart forgets what is normal',
    in: 'src/cluster/remote-snapshots.ts',
    replace: 'RemoteSnapshots.last',
    by: 'async () => undefined',
  },
  {
    rule: 23,
    name: 'while the source is bad each instance has a cool-down of its own',
    in: 'src/cluster/round.ts',
    replace: 'Round.#failure',
    by: "() => original(new Error('any other'))",
  },
  {
    rule: 24,
    name: 'a check finds nothing newer',
    in: 'src/cluster/polled-value.ts',
    replace: 'PolledValue.adoptNewer',
    by: 'async () => {}',
  },
  {
    rule: 24,
    name: 'the next check comes after twice the time',
    in: 'src/cluster/version-poll.ts',
    replace: 'VersionPoll.#pauseMs',
    by: `(random) => original(random) + 500`,
  },
  {
    rule: 24,
    name: 'a mark of another instance is taken for no snapshot',
    in: 'src/cluster/snapshot.ts',
    replace: 'withMetadata',
    by: `(body, { mark, ...metadata }, ...rest) => original(body, metadata, ...rest)`,
  },
  {
    rule: 24,
    name: 'an invalidation log keeps the last mark only',
    in: 'src/cluster/invalidation-log.ts',
    replace: 'withMarks',
    by: `(log, marks, version) => original({ ...log, entries: [] }, marks.slice(-1), version)`,
  },
  {
    rule: 24,
    name: 'marks on keys are not applied',
    in: 'src/cache/many-keys.ts',
    replace: 'MarkedKeys.apply',
    by: '() => {}',
  },
  {
    rule: 24,
    name: 'a snapshot that is older than a tag is adopted',
    in: 'src/cluster/key-marks.ts',
    replace: 'KeyMarks.outOfDateUpTo',
    by: '() => 0',
  },
  {
    rule: 25,
    name: 'a lease is given by force while a version is pinned',
    in: 'src/records/edited.ts',
    replace: 'claimed',
    by: `(record, edit, now, beside, mark) =>
      original(record, edit, now, edit.force && beside ? { ...beside, pinnedUntil: undefined } : beside, mark)`,
  },
  {
    rule: 25,
    name: 'a pin is forgotten as soon as it is adopted',
    in: 'src/cluster/held-version.ts',
    replace: 'versionAfter',
    by: "(held, event) => original(held, event.on === 'adopted' ? { ...event, pin: undefined } : event)",
  },
  {
    rule: 25,
    name: 'a pinned version gives way after 7 s',
    in: 'src/cluster/snapshot.ts',
    replace: 'withMetadata',
    by: `(body, metadata, ...rest) => original(body, { ...metadata, dueIn: Math.min(metadata.dueIn, 7000) }, ...rest)`,
  },
  {
    rule: 25,
    name: 'a pinned version is published without its mark',
    in: 'src/cluster/snapshot.ts',
    replace: 'withMetadata',
    by: `(body, { pinned, ...metadata }, ...rest) => original(body, metadata, ...rest)`,
  },
  {
    rule: 25,
    name: 'unpin leaves the version pinned',
    in: 'src/cluster/version-control.ts',
    replace: 'EntryVersions.unpin',
    by: 'async () => true',
  },
  {
    rule: 4,
    name: 'a load that throws synchronously never lands',
    in: 'src/engine/flight.ts',
    replace: 'Flight.#firstTry',
    by: `() => {
      try {
        this.#attempts = 1;
        const result = this.attempt(1, this.#abort);
        if (typeof result?.then === 'function') return Promise.resolve(result);
        return { kind: 'loaded', result, attempts: 1, isSynchronous: true };
      } catch {
        return new Promise(() => {});
      }
    }`,
  },
  {
    rule: 7,
    name: 'the invalidation of a tag is lost',
    in: 'src/cache/epochs.ts',
    replace: 'Epochs.markTag',
    by: '() => {}',
  },
];
