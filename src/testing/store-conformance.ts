import type { SnapshotStore, StoredSnapshot, WriteAnswer } from '../cluster/store-contract.ts';
import { isOptionError, isStoreUnavailableError } from '../errors.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { between, ensure, present, rejects, same } from './assert.ts';
import { AWKWARD_NAMES, type ConformanceCase, DEFAULT_UNIT_MS, sleep, uniqueName } from './conformance.ts';

/** The store that {@link storeConformance} tries. */
export interface StoreSubject {
  /** A store of the engine. Called at the begin of each case; may give the same one each time. */
  store(): SnapshotStore | Promise<SnapshotStore>;
  /** As another process would have it: another client of the same engine. @default the same as `store` */
  other?(): SnapshotStore | Promise<SnapshotStore>;
  /** A store whose engine can't be reached, such as a port where nobody listens. @default those cases are left out */
  unreachable?(): SnapshotStore | Promise<SnapshotStore>;
  /** How long the suite waits where time must pass, in milliseconds. @default 150 */
  readonly unit?: number | undefined;
}

/**
 * All that a {@link SnapshotStore} promises, as cases for any test runner. They use real time and names of their own,
 * delete what they wrote, and may share an engine with others.
 *
 * ```ts no-run
 * import { it } from 'node:test'; // or of vitest, jest, mocha
 * import { memoryStore } from 'tickless/store/memory';
 * import { storeConformance } from 'tickless/testing';
 *
 * for (const { name, run } of storeConformance({ store: () => memoryStore() })) it(name, run);
 * ```
 *
 * @returns the cases, each independent of the others: they may run in any order, and at the same time.
 */
export function storeConformance(subject: StoreSubject): readonly ConformanceCase[] {
  return CASES.filter(({ needs }) => needs === 'always' || subject.unreachable !== undefined).map(
    ({ name, run }) => ({ name, run: async () => (await Trial.begin(subject)).conduct(run) }),
  );
}

/** One case on one engine. */
class Trial {
  readonly store: SnapshotStore;
  readonly other: SnapshotStore;
  readonly subject: StoreSubject;
  /** Milliseconds. */
  readonly unit: number;
  /** A name of its own. */
  readonly name: string = uniqueName('store');
  readonly #written: Set<string> = new Set();

  private constructor(subject: StoreSubject, store: SnapshotStore, other: SnapshotStore) {
    this.subject = subject;
    this.store = store;
    this.other = other;
    this.unit = subject.unit ?? DEFAULT_UNIT_MS;
  }

  static async begin(subject: StoreSubject): Promise<Trial> {
    const store = await subject.store();
    return new Trial(subject, store, (await subject.other?.()) ?? store);
  }

  async conduct(run: (trial: Trial) => Promise<void>): Promise<void> {
    try {
      await run(this);
    } finally {
      for (const name of this.#written) await this.store.delete(name).catch(() => {}); // the case itself may have failed
    }
  }

  write(
    payload: string,
    token?: number,
    { name = this.name, store = this.store }: { name?: string; store?: SnapshotStore } = {},
  ): Promise<WriteAnswer> {
    this.#written.add(name);
    return token === undefined ? store.write(name, payload) : store.write(name, payload, token);
  }

  async written(payload: string, token?: number, to?: Parameters<Trial['write']>[2]): Promise<number> {
    const { kind, version } = await this.write(payload, token, to);
    same(kind, 'written', 'the answer of write');
    if (token !== undefined) same(version, token, 'the version of a write with a token');
    return version;
  }

  async snapshot(name: string = this.name): Promise<StoredSnapshot> {
    return present(await this.other.read(name), 'read');
  }

  async holds(payload: string, version: number, what: string): Promise<void> {
    const snapshot = await this.snapshot();
    same(snapshot.version, version, `${what}: the version`);
    same(snapshot.payload, payload, `${what}: the payload`);
  }
}

interface Case {
  readonly name: string;
  readonly needs: 'always' | 'unreachable';
  run(trial: Trial): Promise<void>;
}

function always(name: string, run: (trial: Trial) => Promise<void>): Case {
  return { name, needs: 'always', run };
}

/** As a lock gives them: microseconds. */
const TOKEN = 1_767_225_600_000_000;

const CASES: readonly Case[] = [
  always('read: nothing of a name that was never written', async (trial) => {
    same(await trial.store.read(trial.name), undefined, 'read');
    same(await trial.store.read(trial.name, 0), undefined, 'read of what is newer than 0');
  }),

  always('read: what was written, with its version and age', async (trial) => {
    await trial.written('payload', TOKEN);
    const { version, payload, age, ...others } = await trial.snapshot();
    same(version, TOKEN, 'version');
    same(payload, 'payload', 'payload');
    between(age, 0, 100 * trial.unit, 'age, in milliseconds');
    same(Object.keys(others).length, 0, 'how many further fields');
  }),

  always('read: any text comes back as it was', async (trial) => {
    for (const payload of [
      '',
      ' ',
      'null',
      '{"a":[1,"2",null]}',
      `it's "quoted" \\ and \\n not`,
      ' lines\r\nand\nmore\ttabs\n',
      'grüße, \u65e5\u672c\u8a9e, \u{1f680}, e\u0301 and \u00e9, \u2028\u2029\ufeff',
      '100% _ * ? [x] $1 :name ; -- /* */',
      '\ufeffbegins with a byte order mark',
    ]) {
      const version = await trial.written(payload);
      await trial.holds(payload, version, JSON.stringify(payload));
    }
  }),

  always('read: a payload of two megabytes comes back as it was', async (trial) => {
    const payload = Array.from({ length: 120_000 }, (_, i) => `${i}:\u00e9\u65e5\u{1f680}"`).join(',');
    const version = await trial.written(payload);
    const snapshot = await trial.snapshot();
    same(snapshot.version, version, 'version');
    ensure(snapshot.payload === payload, 'the payload came back as another');
  }),

  always('read: only what is newer than the version given', async (trial) => {
    await trial.written('payload', TOKEN);
    same(await trial.other.read(trial.name, TOKEN), undefined, 'newer than the same version');
    same(await trial.other.read(trial.name, TOKEN + 1), undefined, 'newer than a later version');
    for (const version of [TOKEN - 1, 0]) {
      const snapshot = present(await trial.other.read(trial.name, version), `newer than ${version}`);
      same(snapshot.version, TOKEN, 'version');
      same(snapshot.payload, 'payload', 'payload');
    }
    await trial.written('next', TOKEN + 1);
    same((await trial.other.read(trial.name, TOKEN))?.payload, 'next', 'the payload of the next version');
  }),

  always('age: begins at 0 and grows with time', async (trial) => {
    const begin = performance.now();
    await trial.written('payload', TOKEN);
    const first = (await trial.snapshot()).age;
    const passed = performance.now() - begin;
    between(first, 0, passed + trial.unit, 'age at first');
    await sleep(2 * trial.unit);
    const grown = (await trial.snapshot()).age - first;
    between(grown, trial.unit, performance.now() - begin + trial.unit, 'by how much the age has grown');
    await trial.written('next', TOKEN + 1);
    between((await trial.snapshot()).age, 0, first + grown - trial.unit / 2, 'age of the next');
  }),

  always('write: a newer token takes the place of an older one', async (trial) => {
    await trial.written('first', TOKEN);
    await trial.written('second', TOKEN + 1, { store: trial.other });
    await trial.holds('second', TOKEN + 1, 'after the second');
    await trial.written('third', TOKEN + 1_000_000);
    await trial.holds('third', TOKEN + 1_000_000, 'after the third');
  }),

  always('write: an older token is refused, and changes nothing', async (trial) => {
    await trial.written('new', TOKEN);
    for (const token of [TOKEN - 1, 1]) {
      const { kind, version } = await trial.write('old', token, { store: trial.other });
      same(kind, 'refused', 'the answer of a write with an older token');
      same(version, TOKEN, 'the version that it tells');
      await trial.holds('new', TOKEN, 'after a refused write');
    }
  }),

  always('write: the same token again answers written again', async (trial) => {
    await trial.written('payload', TOKEN);
    await trial.written('payload', TOKEN, { store: trial.other });
    await trial.holds('payload', TOKEN, 'after the second write');
    await trial.written('mended', TOKEN);
    await trial.holds('mended', TOKEN, 'after a write of the same token');
  }),

  always('write: without a token the versions grow', async (trial) => {
    let last = 0;
    for (const payload of ['a', 'b', 'c', 'd']) {
      const version = await trial.written(payload);
      ensure(Number.isSafeInteger(version), `the version is no safe integer: ${version}`);
      ensure(version > last, `the version must grow: ${last} before, ${version} now`);
      last = version;
      await trial.holds(payload, version, 'after a write without a token');
    }
  }),

  always(
    'write: without a token the version is the engine’s clock in microseconds, or one more',
    async (trial) => {
      const first = await trial.written('a');
      between(first / 1000, Date.UTC(2020), Date.UTC(2200), 'the version in milliseconds');
      const future = first + 1_000_000_000_000; // eleven days
      await trial.written('b', future);
      same(await trial.written('c'), future + 1, 'the version after one that the clock has not reached');
    },
  ),

  always('write: of 20 tokens at once the highest wins', async (trial) => {
    const tokens = Array.from({ length: 20 }, (_, i) => TOKEN + 1 + ((i * 7) % 20));
    const answers = await Promise.all(
      tokens.map((token, i) => {
        return trial.write(`payload ${token}`, token, { store: i % 2 === 0 ? trial.store : trial.other });
      }),
    );
    await trial.holds(`payload ${TOKEN + 20}`, TOKEN + 20, 'after all');
    answers.forEach(({ kind, version }, i) => {
      const token = tokens[i] as number;
      if (kind === 'written') same(version, token, 'the version of a write');
      else ensure(version > token, `${token} was refused for ${version}, which is no newer`);
    });
    same(answers[tokens.indexOf(TOKEN + 20)]?.kind, 'written', 'the answer to the highest');
  }),

  always('write: of 20 at once without a token each gets a version of its own', async (trial) => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => {
        return trial.write(`payload ${i}`, undefined, { store: i % 2 === 0 ? trial.store : trial.other });
      }),
    );
    const versions = answers.map(({ version }) => version);
    for (const { kind } of answers) same(kind, 'written', 'the answer of write');
    same(new Set(versions).size, 20, 'how many versions');
    const highest = Math.max(...versions);
    await trial.holds(`payload ${versions.indexOf(highest)}`, highest, 'after all');
  }),

  always('delete: forgets a snapshot, and says whether there was one', async (trial) => {
    same(await trial.store.delete(trial.name), false, 'delete of nothing');
    await trial.written('payload', TOKEN);
    same(await trial.other.delete(trial.name), true, 'delete');
    same(await trial.store.read(trial.name), undefined, 'read');
    same(await trial.store.delete(trial.name), false, 'second delete');
    await trial.written('again', TOKEN + 1);
    await trial.holds('again', TOKEN + 1, 'after a write that follows a delete');
  }),

  always('names: do not touch each other', async (trial) => {
    const second = uniqueName('second');
    await trial.written('first', TOKEN);
    await trial.written('second', TOKEN + 1, { name: second });
    await trial.holds('first', TOKEN, 'the first');
    same(await trial.store.delete(second), true, 'delete of the second');
    await trial.holds('first', TOKEN, 'the first, after the second was deleted');
  }),

  always('names: any text is a name, and none is taken for another', async (trial) => {
    const names = AWKWARD_NAMES.map((end) => `${trial.name}-${end}`);
    for (const name of names) await trial.written(`of ${name}`, TOKEN, { name });
    for (const name of names) same((await trial.snapshot(name)).payload, `of ${name}`, 'payload');
    for (const name of names) {
      same(await trial.store.delete(name), true, `delete of ${JSON.stringify(name)}`);
      same(await trial.store.read(name), undefined, `read of ${JSON.stringify(name)}`);
    }
  }),

  always('names: as long as it says, and no longer', async (trial) => {
    const { longestName } = trial.store;
    const longest = trial.name.padEnd(longestName ?? 5000, 'x');
    const neighbour = `${longest.slice(0, -1)}y`;
    const room = (longestName ?? 5000) - trial.name.length;
    const wide = trial.name + '\u00e9'.repeat(Math.floor(room / 2)); // two bytes each
    for (const name of [longest, neighbour, wide]) await trial.written(`of ${name}`, TOKEN, { name });
    for (const name of [longest, neighbour, wide]) {
      same((await trial.snapshot(name)).payload, `of ${name}`, 'payload');
    }
    if (longestName === undefined) return;
    for (const name of [`${longest}x`, `${wide}\u00e9`]) {
      await rejects(trial.store.write(name, ''), isOptionError, 'write to a name too long');
      await rejects(trial.store.read(name), isOptionError, 'read of a name too long');
    }
  }),

  always('rules: a caller who breaks one is told so', async (trial) => {
    const { store, name } = trial;
    await rejects(store.read(''), isOptionError, 'read of an empty name');
    await rejects(store.write('', 'payload'), isOptionError, 'write to an empty name');
    await rejects(store.delete(''), isOptionError, 'delete of an empty name');
    for (const token of [Number.NaN, 1.5, Infinity]) {
      await rejects(store.write(name, 'payload', token), isOptionError, `write with the token ${token}`);
    }
    same(await store.read(name), undefined, 'read after broken rules');
  }),

  {
    name: 'unreachable: each step rejects with StoreUnavailableError, within ten seconds',
    needs: 'unreachable',
    async run({ subject, name }) {
      const store = present(await subject.unreachable?.(), 'unreachable');
      const asked = [
        rejects(store.read(name), isStoreUnavailableError, 'read'),
        rejects(store.write(name, 'payload', TOKEN), isStoreUnavailableError, 'write'),
        rejects(store.delete(name), isStoreUnavailableError, 'delete'),
      ];
      await withTimeout(() => Promise.all(asked), 10_000);
    },
  },
];
