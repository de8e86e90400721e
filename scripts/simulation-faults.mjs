// One way each in which tickless can be wrong, for the simulation to find. `find` must occur exactly once in `file`.

const record = 'src/lock/record.ts';
const flight = 'src/executor/flight.ts';
const launcher = 'src/executor/launcher.ts';
const timetable = 'src/executor/timetable.ts';
const round = 'src/cluster/round.ts';
const cluster = 'src/cluster/cluster.ts';
const lease = 'src/cluster/held-lease.ts';
const decide = 'src/executor/decide.ts';

/** @type {readonly { name: string, file: string, find: string, put: string }[]} */
export const simulationFaults = [
  {
    name: 'a lease is released without a look at whose it is',
    file: record,
    find: 'if (record === undefined || !isOf(record, lease)) return undefined;',
    put: 'if (record === undefined) return undefined;',
  },
  {
    name: 'a lease is extended without a look at whose it is',
    file: record,
    find: 'if (record === undefined || !isOf(record, lease) || !isLive(record, at)) return undefined;',
    put: 'if (record === undefined || !isLive(record, at)) return undefined;',
  },
  {
    name: 'the token is not raised at a takeover',
    file: record,
    find: 'token: Math.max(successorOf(',
    put: "token: record?.state === 'running' ? record.token : Math.max(successorOf(",
  },
  {
    name: 'a round that failed holds the next one back until its time',
    file: round,
    find: 'holdFor: coolDownMs(coolDown, 1, random()),',
    put: 'holdFor: coolDownMs(coolDown, 1, random()) + 10_000,',
  },
  {
    name: 'a round that failed is released as done',
    file: round,
    find: "as: 'failed',\n      holdFor:",
    put: "as: 'done',\n      holdFor:",
  },
  {
    name: 'the running mark is not cleared when a load throws synchronously',
    file: flight,
    find: '    } catch (error) {\n      return this.#plan.retry === undefined',
    put: '    } catch (error) {\n      if (this.#plan.retry === undefined) return new Promise(() => {});\n      return this.#plan.retry === undefined',
  },
  {
    name: 'a second load begins while one is under way',
    file: launcher,
    find: 'if (underWay !== undefined) {',
    put: "if (underWay !== undefined && trigger !== 'forced') {",
  },
  {
    name: 'a load is not told to stop at its deadline',
    file: flight,
    find: '    this.#close();\n    this.#controller.abort(reason);',
    put: '    this.#close();',
  },
  {
    name: 'a late result is accepted after an invalidation',
    file: flight,
    find: "    if (this.#isOver) {\n      if (outcome.kind === 'answered') this.#plan.late();\n      return;\n    }\n",
    put: '',
  },
  {
    name: 'who waits for a load that is superseded is forgotten',
    file: launcher,
    find: '    this.#policy.clock.setTimeout(start, 0).ref();',
    put: '    void start;',
  },
  {
    name: 'no cool-down before the first success',
    file: decide,
    find: "  const mayLoad = entry.flight === undefined && gate === 'open' && now >= entry.coolDownUntil;\n  const mayStart",
    put: "  const mayLoad = entry.flight === undefined && gate === 'open' && (now >= entry.coolDownUntil || !entry.isLoaded);\n  const mayStart",
  },
  {
    name: 'Retry-After is ignored',
    file: timetable,
    find: 'retryAfterMs(error, clock.now())',
    put: '0',
  },
  {
    name: 'the age counts from the start of the load',
    file: timetable,
    find: '    entry.loadedAt = now;\n',
    put: '    entry.loadedAt = startedAt;\n',
  },
  {
    name: 'durations are measured with the wall clock',
    file: timetable,
    find: '    entry.coolDownUntil = clock.monotonic() + coolingDown.delay;',
    put: '    entry.coolDownUntil = coolingDown.until - entry.clockOffset;',
  },
  {
    name: 'a step of the wall clock is not noticed',
    file: timetable,
    find: '    if (entry.last === undefined || step === 0) return',
    put: '    if (entry.last === undefined || step !== undefined) return',
  },
  {
    name: 'the heap of a group is not told of another schedule',
    file: 'src/executor/refresher.ts',
    find: 'this.#starter.timetable.rescheduled(entry));\n    this.#starter.launcher.keeper.changed(entry);',
    put: 'this.#starter.timetable.rescheduled(entry));',
  },
  {
    name: "a load sees its reader's context",
    file: 'src/clean-context.ts',
    find: '(action) => inFirstContext(capture)(action);',
    put: '(action) => action();',
  },
  {
    name: 'a listener that throws is not caught',
    file: 'src/observe/events.ts',
    find: 'callForeign(\n        () => listener(event as never),',
    put: 'listener(event as never);\n      callForeign(\n        () => {},',
  },
  {
    name: 'the renewal goes on after the load',
    file: lease,
    find: '    this.#cancelTimers();\n    this.#isEnded = true;\n    if (this.isLost) return false;',
    put: '    if (this.isLost) return false;',
  },
  {
    name: 'who stood still past his lease goes on',
    file: lease,
    find: 'return this.#isLost || this.#clock.monotonic() >= this.#validUntil;',
    put: 'return this.#isLost;',
  },
  {
    name: 'a lease is taken to last from its answer on',
    file: 'src/cluster/ask-for-lease.ts',
    find: 'new HeldLease(lock, answer.lease, sentAt, clock, wanted.leaseFor)',
    put: 'new HeldLease(lock, answer.lease, clock.monotonic(), clock, wanted.leaseFor)',
  },
  {
    name: 'a result is published without its token',
    file: cluster,
    find: 'store.write(name, payload, token)',
    put: 'store.write(name, payload)',
  },
  {
    name: 'what was loaded without the lock is published',
    file: round,
    find: '    if (lease === undefined && lock !== undefined) return; // loaded without the lock: nothing to be published\n',
    put: '',
  },
  {
    name: 'a snapshot is as young as if it had just been written',
    file: cluster,
    find: 'const writtenAt = sentAt - Math.max(0, age);',
    put: 'const writtenAt = sentAt;',
  },
  {
    name: 'a snapshot replaces what was set by hand after it',
    file: round,
    find: 'return this.#entry.isLoaded && this.#state.isLocal && loadedAt < this.#entry.loadedAt;',
    put: 'return this.#entry.isLoaded && this.#state.isLocal && loadedAt < 0;',
  },
  {
    name: 'who stands by does so for ever',
    file: timetable,
    find: '    entry.standsByUntil = now + forMs;\n    if',
    put: '    entry.standsByUntil = Infinity;\n    if',
  },
  {
    name: 'a lock that can not be asked is an error where loads may go without',
    file: round,
    find: "if (policy.whenLockUnavailable === 'load') return undefined;",
    put: "if (policy.whenLockUnavailable === 'load' && entry.isLoaded) return undefined;",
  },
  {
    name: 'every due read looks into the store first',
    file: round,
    find: '    if (entry.isLoaded) return undefined;\n    const snapshot',
    put: '    const snapshot',
  },
  {
    name: 'get is for ever answered with the first value',
    file: launcher,
    find: 'entry.promise = Promise.resolve(value);',
    put: 'entry.promise ??= Promise.resolve(value);',
  },
  {
    name: 'the age limit counts from when a value is due',
    file: decide,
    find: 'return now - entry.loadedAt > entry.maxStalenessMs;',
    put: 'return now - Math.max(entry.loadedAt, (entry as { dueAt?: number }).dueAt ?? 0) > entry.maxStalenessMs;',
  },
  {
    name: 'a value that is due is refused as if it were too old',
    file: decide,
    find: '  if (!isTooStale(entry, now)) return isDue',
    put: "  if (!isTooStale(entry, now) && !(whenTooStale === 'throw' && entry.maxStalenessMs < Infinity && isDue(entry, now))) return isDue",
  },
  {
    name: 'a load is given half of its time',
    file: flight,
    find: 'this.#deadlineAt = clock.monotonic() + timeoutMs;',
    put: 'this.#deadlineAt = clock.monotonic() + timeoutMs / 2;',
  },
  {
    name: 'a load is tried once too often',
    file: 'src/executor/retry.ts',
    find: '    ...options,\n    minTimeout: 0,',
    put: '    ...options,\n    retries: (options.retries ?? 10) + 1,\n    minTimeout: 0,',
  },
  {
    name: 'timers of a load keep the process alive though nobody waits',
    file: flight,
    find: 'if (this.#holds > 0) timer.ref();',
    put: 'timer.ref();',
  },
  {
    name: 'the cool-down outlives a success',
    file: timetable,
    find: '    entry.coolDownUntil = entry.standsByUntil = Number.NEGATIVE_INFINITY;\n    entry.isInvalidated = false;\n    // The schedule',
    put: '    entry.standsByUntil = Number.NEGATIVE_INFINITY;\n    entry.isInvalidated = false;\n    // The schedule',
  },
  {
    name: 'what was set by hand is never due',
    file: launcher,
    find: 'this.teller.brokenSchedule(entry, this.#accept(entry, answer, this.#policy.clock.monotonic()));\n    waiters',
    put: 'this.teller.brokenSchedule(entry, this.#accept(entry, answer, this.#policy.clock.monotonic()));\n    entry.dueAt = entry.freshUntil = Infinity;\n    waiters',
  },
  {
    name: 'who waits is not answered by close',
    file: launcher,
    find: '      this.abort(entry, error);\n      takeWaiters(entry)?.reject(error);',
    put: '      this.abort(entry, error);\n      takeWaiters(entry);',
  },
  {
    name: 'a fresh read is told as a stale one',
    file: 'src/executor/starter.ts',
    find: "if (isDue(entry, now)) this.events.emit('stale-served'",
    put: "if (isDue(entry, now) || entry.isLoaded) this.events.emit('stale-served'",
  },
  {
    name: 'reads do not compare the clocks',
    file: 'src/executor/starter.ts',
    find: 'if (now >= entry.lookAt) this.compareClocks(entry, now);',
    put: 'void entry;',
  },
  {
    name: 'a group is not told that a member goes on',
    file: 'src/executor/refresher.ts',
    find: "this.#starter.events.emit('resumed', {});\n    this.#starter.launcher.keeper.turned();",
    put: "this.#starter.events.emit('resumed', {});",
  },
  {
    name: 'the invalidation of a tag is lost',
    file: 'src/cache/keyed-entries.ts',
    find: 'this.epochs.markTag(tag);',
    put: 'void tag;',
  },
  {
    name: 'getMany gives the value of the next key',
    file: 'src/cache/read-many.ts',
    find: 'const key = asked[index] as K;',
    put: 'const key = asked[(index + 1) % asked.length] as K;',
  },
  {
    name: 'a key that is deleted while its round is open is forgotten',
    file: 'src/cache/keyed-entries.ts',
    find: 'const isKept = entry.isLoaded ? isLoading(entry) : isBusy(entry);',
    put: 'const isKept = isLoading(entry);',
  },
  {
    name: 'lockAtLeastFor is ignored',
    file: 'src/cluster/locked-task.ts',
    find: "({ as: 'done', holdFor: left() })",
    put: "({ as: 'done', holdFor: 0 * left() })",
  },
  {
    name: 'the slack of a hold carries a value beyond its age limit',
    file: round,
    find: 'Math.min(about.dueAt + HOLD_SLACK_MS, ageLimitOf(this.#entry)),',
    put: 'about.dueAt + HOLD_SLACK_MS,',
  },
  {
    name: 'refresh is answered by what a lease has brought before',
    file: round,
    find: 'const isOver = answer.isBackoff || answer.token <= state.version;',
    put: 'const isOver = answer.isBackoff;',
  },
];
