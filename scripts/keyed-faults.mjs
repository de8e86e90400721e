// One way each in which a promise of keyed caches and groups can be missing, and the tests that must see it. `find` must
// occur exactly once in `file`.

const keys = ['test/cache/cache-eviction.test.ts', 'test/cache/cache-rules.test.ts'];
const many = ['test/cache/load-many.test.ts'];
const spread = ['test/cache/spread-and-tags.test.ts'];
const dump = ['test/cache/dump-restore.test.ts'];
const group = ['test/cache/refresh-group.test.ts', 'test/cache/group-keys.test.ts'];
const pump = ['test/executor/pump.test.ts'];
const reentrancy = ['test/cache/cache-reentrancy.test.ts'];
const bursts = ['test/burst-clock.test.ts'];
const crowd = ['test/cache/crowd.test.ts'];
const end = ['test/cache/group-ready-health-close.test.ts'];

/** @type {readonly { tests: string[], name: string, file: string, find: string, put: string }[]} */
export const keyedFaults = [
  {
    tests: keys,
    name: 'a key that is pushed out while it loads is forgotten',
    file: 'src/cache/keyed-entries.ts',
    find: 'if (entry.uses === 0 && !isKept) this.#awake.delete(id);',
    put: 'if (entry.uses === 0) this.#awake.delete(id);',
  },
  {
    tests: keys,
    name: 'keys without a value are not remembered',
    file: 'src/cache/keyed-entries.ts',
    find: 'this.#vacancies.put(entry, isVacant);',
    put: '',
  },
  {
    tests: keys,
    name: 'keys without a value are remembered without bound',
    file: 'src/cache/vacancies.ts',
    find: 'createLru({ maxSize: maxAbsent })',
    put: 'createLru({ maxSize: 1_000_000 })',
  },
  {
    tests: keys,
    name: 'an absent key is asked for again at once',
    file: 'src/executor/timetable.ts',
    find: 'entry.coolDownUntil = this.#policy.clock.monotonic() + absentForMs;',
    put: 'entry.coolDownUntil = this.#policy.clock.monotonic();',
  },
  {
    tests: keys,
    name: 'a size that is none is taken',
    file: 'src/cache/cache-options.ts',
    find: 'if (!isNumber(size, 0, Number.MAX_SAFE_INTEGER)) {',
    put: 'if (false) {',
  },
  {
    tests: keys,
    name: 'an entry goes to sleep with its cool-down',
    file: 'src/cache/keyed-entries.ts',
    find: '} else if (isCalm(entry)) {',
    put: '} else {',
  },
  {
    tests: many,
    name: 'batches have no bound',
    file: 'src/cache/batches.ts',
    find: 'if (batch.length >= this.#plan.batchSize) this.#depart(batch);',
    put: '',
  },
  {
    tests: many,
    name: 'a batch does not wait for the keys of the same turn',
    file: 'src/cache/batches.ts',
    find: 'if (quiet >= quietLooks) this.#depart(batch);',
    put: 'if (batch.length > 0) this.#depart(batch);',
  },
  {
    tests: many,
    name: 'retries depart one by one',
    file: 'src/cache/batches.ts',
    find: 'isByTimer ? this.#boardTimed() : this.#boardFirst()',
    put: 'this.#boardFirst()',
  },
  {
    tests: many,
    name: 'a key that was left out waits for ever',
    file: 'src/cache/batches.ts',
    find: "else answer.reject(new TypeError('loadMany left it out; a key that the source lacks is absent()'));",
    put: '',
  },
  {
    tests: many,
    name: 'the first key that is over aborts the batch',
    file: 'src/cache/batches.ts',
    find: 'if (left === 0) controller.abort(signal.reason);',
    put: 'controller.abort(signal.reason);',
  },
  {
    tests: spread,
    name: 'keys that were loaded together fall due together',
    file: 'src/cache/spread.ts',
    find: 'begin + random() * (latest - begin)',
    put: 'begin',
  },
  {
    tests: spread,
    name: 'a read does not look at the epoch',
    file: 'src/cache/shelf.ts',
    find: ' && (epoch === 0 || this.#judged?.[row] === epoch >>> 0)',
    put: '',
  },
  {
    tests: spread,
    name: 'a load that began before its tag was invalidated is taken',
    file: 'src/cache/keyed-entries.ts',
    find: 'return this.epochs.isOutdated(loadEpoch, before) || this.epochs.isOutdated(loadEpoch, entry.tags);',
    put: 'return loadEpoch < 0 && before === undefined;',
  },
  {
    tests: dump,
    name: 'what is older than maxStaleness is restored',
    file: 'src/cache/dump.ts',
    find: 'entry.ageMs <= (entry.maxStalenessMs ?? usual) && entries.restore(entry)',
    put: 'usual > 0 && entries.restore(entry)',
  },
  {
    tests: dump,
    name: 'the time between dump and restore is no age',
    file: 'src/cache/dump.ts',
    find: 'age + sinceThen',
    put: 'age',
  },
  {
    tests: pump,
    name: 'a round takes what falls due while it goes on',
    file: 'src/executor/pump.ts',
    find: '      this.#running.delete(running);\n      this.#startDue();',
    put: '      this.#running.delete(running);\n      this.#begin();\n      this.#startDue();',
  },
  {
    tests: pump,
    name: 'more loads run than may',
    file: 'src/executor/pump.ts',
    find: '!this.#isClosed && this.#running.size < this.#options.concurrency',
    put: '!this.#isClosed',
  },
  {
    tests: group,
    name: 'reads do not look whether others are due',
    file: 'src/cache/refreshing-value.ts',
    find: ' && clock.instant < this.#refresher.door.readsFrom',
    put: '',
  },
  {
    tests: group,
    name: 'the heap does not hear of another schedule',
    file: 'src/executor/refresher.ts',
    find: 'this.#starter.launcher.teller.brokenSchedule(entry, this.#starter.timetable.rescheduled(entry));\n    this.#starter.launcher.keeper.changed(entry);',
    put: 'this.#starter.launcher.teller.brokenSchedule(entry, this.#starter.timetable.rescheduled(entry));',
  },
  {
    tests: group,
    name: 'two members of one name',
    file: 'src/cache/refresh-group.ts',
    find: '!this.#members.has(member.name)',
    put: 'true',
  },
  {
    tests: end,
    name: 'ready tries once',
    file: 'src/cache/readiness.ts',
    find: 'if (!isFailure) return; // paused, closed',
    put: 'if (isFailure || !isFailure) return;',
  },
  {
    tests: reentrancy,
    name: 'an entry is put to sleep while somebody works on it',
    file: 'src/cache/keyed-entries.ts',
    find: 'if (entry.uses > 0 || this.#awake.get(id) !== entry) return;',
    put: 'if (this.#awake.get(id) !== entry) return;',
  },
  {
    tests: reentrancy,
    name: 'readers who have left keep an entry awake',
    file: 'src/executor/launcher.ts',
    find: 'else if (haveLeft) takeWaiters(entry)?.resolve(entry.value as T);',
    put: 'else if (haveLeft) return;',
  },
  {
    tests: reentrancy,
    name: 'a value that is too old is fatal though nobody has read it',
    file: 'src/executor/health.ts',
    find: "const isFatal = failures > 0 || gate !== 'open';",
    put: 'const isFatal = failures >= 0;',
  },
  {
    tests: group,
    name: 'a member is started again and again in one round',
    file: 'src/executor/entry-member.ts',
    find: 'Math.max(from, this.#round)',
    put: 'from',
  },
  {
    tests: group,
    name: 'lookAhead starts what was loaded just now',
    file: 'src/executor/decide.ts',
    find: 'Math.min(lookAheadMs, (dueAt - loadedAt) / 2)',
    put: 'lookAheadMs',
  },
  {
    tests: group,
    name: 'keys that a tag has invalidated are not found by a request',
    file: 'src/cache/keyed-entries.ts',
    find: 'this.dueKeys?.markUnseen();',
    put: '',
  },
  {
    tests: end,
    name: 'a closed member is served although it must throw',
    file: 'src/executor/decide.ts',
    find: "if (gate === 'closed' && whenClosed === 'throw') return 'reject';",
    put: '',
  },
  {
    tests: bursts,
    name: 'what a burst was told is not forgotten',
    file: 'src/burst-clock.ts',
    find: 'this.#left = this.#skip = 0;',
    put: '',
  },
  {
    tests: bursts,
    name: 'slow reads share an instant',
    file: 'src/burst-clock.ts',
    find: 'this.#close > 0 ? Math.min(MOST_SKIPPED, 2 * this.#skip + 1) : 0',
    put: 'Math.min(MOST_SKIPPED, 2 * this.#skip + 1)',
  },
  {
    tests: bursts,
    name: 'what awaited reads were told is not forgotten with their turn',
    file: 'src/burst-clock.ts',
    find: '(callback) => setImmediate(callback)',
    put: '() => {}',
  },
  {
    tests: bursts,
    name: 'a few awaited reads are a burst',
    file: 'src/burst-clock.ts',
    find: 'setImmediate(callback), 16)',
    put: 'setImmediate(callback), 1)',
  },
  {
    tests: crowd,
    name: 'a reader joins a first load that still waits for its turn',
    file: 'src/executor/reader.ts',
    find: 'entry.flight?.hasBegun !== true',
    put: 'entry.flight === undefined',
  },
  {
    tests: crowd,
    name: 'a reader joins a first load after close',
    file: 'src/executor/reader.ts',
    find: '!isOpen || ',
    put: '',
  },
  {
    tests: crowd,
    name: 'who joins a first load wakes nobody else',
    file: 'src/executor/reader.ts',
    find: '    this.#starter.wakeOthers();\n    return next;',
    put: '    return next;',
  },
];
