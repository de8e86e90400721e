// Records made of the steps of a lock or a store: faulty ones replace a step, and others count or fail.

import type { AcquireRequest, LeaseId, LockRecord } from '../../src/cluster/lock-contract.ts';
import { oneByOne } from '../../src/cluster/one-by-one.ts';
import type {
  InstanceReport,
  ReplaceAnswer,
  Store,
  StoredReport,
  StoredSnapshot,
  WriteAnswer,
} from '../../src/cluster/store-contract.ts';
import { LOCK, REPORT, SNAPSHOT } from '../../src/records/names.ts';
import type {
  Amend,
  Answer,
  Claim,
  Edit,
  ListedEdition,
  Put,
  Read,
  Records,
  Row,
} from '../../src/records/records.ts';

/** The record of a lock. A duration that is over may be negative. */
export interface LockRow extends LockRecord {
  readonly requestId: string;
  readonly confirms?: string | undefined;
  readonly now: number;
}

/** How a release ends a lease. */
interface Ending {
  readonly state: 'done' | 'failed' | 'abandoned';
  readonly holdFor: number;
  readonly error: string | undefined;
  readonly keepFor?: number | undefined;
  readonly confirms?: string | undefined;
}

interface LeaseExtension {
  readonly lease: LeaseId;
  readonly leaseFor: number;
}

interface LeaseEnd {
  readonly lease: LeaseId;
  readonly ending: Ending;
}

type Many<Q, A> = ((requests: readonly Q[]) => Promise<readonly (A | Error)[]>) | undefined;

/** The steps of a lock, with the names of its callers. Those for several names are one command each. */
export interface StepsOfLock {
  acquire(request: AcquireRequest): Promise<LockRow>;
  extend(lease: LeaseId, leaseFor: number): Promise<boolean>;
  release(lease: LeaseId, ending: Ending): Promise<boolean>;
  forceRelease(name: string, token: number): Promise<boolean>;
  find(name: string): Promise<LockRow | undefined>;
  list(prefix: string, limit: number): Promise<LockRow[]>;
  readonly acquireMany?: Many<AcquireRequest, LockRow>;
  readonly extendMany?: Many<LeaseExtension, boolean>;
  readonly releaseMany?: Many<LeaseEnd, boolean>;
}

function rowOfLock({ requestId, owner, host, state, lastError, confirms, ...row }: LockRow): Row {
  const isRunning = state === 'running';
  return {
    token: row.token,
    id: requestId,
    phase: isRunning ? (row.tookOver ? 'seized' : 'leased') : 'held',
    text: JSON.stringify({ owner, host }),
    note: JSON.stringify({ state, error: lastError, confirms }),
    age: row.acquiredAgo,
    changedAgo: row.finishedAgo as number,
    left: isRunning ? row.leaseLeft : row.holdLeft,
  };
}

const named = (name: string): string => name.slice(LOCK.length);
const leaseOf = ({ name, token, id = '' }: Amend): LeaseId => ({ name: named(name), token, requestId: id });

function requestOf({ name, id: requestId, text, forMs: leaseFor, force }: Claim): AcquireRequest {
  const { owner, host } = JSON.parse(text) as { owner: string; host: string };
  return { name: named(name), owner, requestId, leaseFor, host, force };
}

function endingOf({ note = '{}', forMs: holdFor, keepMs: keepFor }: Amend): Ending {
  const { state, error, confirms } = JSON.parse(note) as Pick<Ending, 'state' | 'error' | 'confirms'>;
  return { state, holdFor, error, keepFor, confirms };
}

/** One by one, unless there is a step for several. */
function each<Q, A>(requests: readonly Q[], one: (request: Q) => Promise<A>, many: Many<Q, A>) {
  return many === undefined || requests.length === 1 ? oneByOne(requests, one) : many(requests);
}

export function recordsOfLock(steps: StepsOfLock): Records {
  const { acquireMany, extendMany, releaseMany } = steps;
  const done = (found: readonly (boolean | Error)[]) =>
    answers(found, (isDone) => ({ isDone, row: undefined }));
  async function apply(edits: readonly Edit[]): ReturnType<Records['apply']> {
    const [first] = edits as [Claim | Amend | Read];
    if (first.op === 'read') {
      const rows = await oneByOne(edits, ({ name }) => steps.find(named(name)));
      const found = rows.find((row): row is LockRow => row !== undefined && !(row instanceof Error));
      const shown = answers(rows, (row) => ({ isDone: row !== undefined, row: row && rowOfLock(row) }));
      return { now: found?.now ?? 0, answers: shown };
    }
    if (first.op === 'claim') {
      const requests = (edits as readonly Claim[]).map(requestOf);
      const rows = await each(requests, (request) => steps.acquire(request), acquireMany?.bind(steps));
      const found = rows.find((row): row is LockRow => !(row instanceof Error));
      const claimed = answers(rows, (row) => ({ isDone: true, row: rowOfLock(row) }));
      return { now: found?.now as number, answers: claimed };
    }
    const amends = edits as readonly Amend[];
    if (first.id === undefined)
      return { now: 0, answers: done([await steps.forceRelease(named(first.name), first.token)]) };
    if (first.phase === undefined) {
      const extensions = amends.map((amend) => ({ lease: leaseOf(amend), leaseFor: amend.forMs }));
      const one = ({ lease, leaseFor }: LeaseExtension) => steps.extend(lease, leaseFor);
      return { now: 0, answers: done(await each(extensions, one, extendMany?.bind(steps))) };
    }
    const ends = amends.map((amend) => ({ lease: leaseOf(amend), ending: endingOf(amend) }));
    const one = ({ lease, ending }: LeaseEnd) => steps.release(lease, ending);
    return { now: 0, answers: done(await each(ends, one, releaseMany?.bind(steps))) };
  }
  return {
    mostEdits: acquireMany === undefined ? 1 : 500,
    sharesCommands: true,
    apply,
    async list(prefix, limit) {
      const rows = await steps.list(named(prefix), limit);
      return { now: rows[0]?.now ?? 0, rows: rows.map((row) => [LOCK + row.name, rowOfLock(row)] as const) };
    },
    editions: async () => [],
  };
}

/** The steps of a store, with the names of its callers. */
export interface StepsOfStore {
  read(...asked: [...Parameters<Store['read']>, report?: InstanceReport]): ReturnType<Store['read']>;
  write(...asked: [...Parameters<Store['write']>, report?: InstanceReport]): ReturnType<Store['write']>;
  replace?(name: string, text: string, expected: number, report?: InstanceReport): Promise<ReplaceAnswer>;
  /** @default none is confirmed */
  confirm?(
    ...asked: [...Parameters<NonNullable<Store['confirm']>>, report?: InstanceReport]
  ): Promise<WriteAnswer>;
  delete(name: string): Promise<boolean>;
  /** @default those that `read` finds; the report is lost */
  readonly versions?:
    | ((names: readonly string[], report?: InstanceReport) => Promise<readonly (number | Error)[]>)
    | undefined;
  /** @default the present one */
  readonly history?:
    | ((name: string) => Promise<readonly (StoredSnapshot & { readonly bytes: number })[]>)
    | undefined;
  readonly reports?: ((beginning: string) => Promise<readonly StoredReport[]>) | undefined;
  /** @default false */
  readonly takesReports?: boolean | undefined;
}

function rowOfSnapshot({ version, age, payload, damage, confirmation }: StoredSnapshot): Row {
  const { text: note = '', age: changedAgo = age } = confirmation ?? {};
  return {
    ...{ token: version, id: '', phase: 'held', text: payload, note, damage },
    ...{ age, changedAgo, left: 0 },
  } as Row;
}

/** That of a record of which nothing but its version is known. */
function versionRow(version: number): Row {
  return rowOfSnapshot({ version, age: 0, payload: '' });
}

function written({ kind, version }: WriteAnswer): Answer {
  return { isDone: kind === 'written', row: versionRow(version) };
}

function answers<A>(found: readonly (A | Error)[], answer: (one: A) => Answer): (Answer | Error)[] {
  return found.map((one) => (one instanceof Error ? one : answer(one)));
}

export function recordsOfStore(steps: StepsOfStore): Records {
  const of = (name: string): string => name.slice(SNAPSHOT.length);
  async function versionsOf(
    names: readonly string[],
    report?: InstanceReport,
  ): Promise<readonly (number | Error)[]> {
    if (steps.versions !== undefined) return steps.versions(names, report);
    if (names.length === 0) return [];
    const found = await oneByOne(names, (name) => steps.read(name));
    return found.map((read) => (read instanceof Error ? read : read?.damage ? 0 : (read?.version ?? 0)));
  }
  async function answersTo(edits: readonly Edit[], report?: InstanceReport): Promise<(Answer | Error)[]> {
    const [first] = edits as [Read | Put | Amend | undefined];
    if (first === undefined || (first.op === 'read' && first.isBrief)) {
      const versions = await versionsOf(
        edits.map(({ name }) => of(name)),
        report,
      );
      return answers(versions, (version) => ({ isDone: true, row: versionRow(version) }));
    }
    if (first.op === 'read') {
      const found = await oneByOne(edits as readonly Read[], ({ name, newerThan, token }) =>
        steps.read(of(name), newerThan, token, report),
      );
      return answers(found, (read) => ({ isDone: read !== undefined, row: read && rowOfSnapshot(read) }));
    }
    if (first.op === 'amend') {
      const amends = edits as readonly Edit[] as readonly Amend[];
      const found = await oneByOne(amends, async ({ name, token, note = '' }): Promise<WriteAnswer> => {
        return (await steps.confirm?.(of(name), token, note, report)) ?? { kind: 'refused', version: 0 };
      });
      return answers(found, written);
    }
    if (first.op !== 'put') return [{ isDone: await steps.delete(of((first as Edit).name)), row: undefined }];
    const [put, ...reads] = edits as readonly [Put, ...Edit[]];
    if (put.expected !== undefined) {
      if (reads.some(({ op }) => op !== 'read') || steps.replace === undefined)
        throw new Error('each is put alone, by a store with that step');
      const answer = await steps.replace(of(put.name), put.text, put.expected, report);
      if (answer.kind === 'written') return [written(answer), written(answer)];
      const row = answer.present && rowOfSnapshot(answer.present);
      return [
        { isDone: false, row },
        { isDone: row !== undefined, row },
      ];
    }
    const found = await oneByOne(edits as readonly Put[], ({ name, text, token, over, keepMs }) =>
      steps.write(of(name), text, token, over, keepMs, report),
    );
    return answers(found, written);
  }
  return {
    mostEdits: 1,
    get sharesCommands() {
      return steps.takesReports === true;
    },
    async apply(edits) {
      const isReport = ({ name }: Edit): boolean => name.startsWith(REPORT);
      const reports = edits.filter(isReport) as readonly Put[];
      const [report] = reports.map(({ name, text, keepMs = 0, token: serial }) => ({
        ...{ instance: name.slice(REPORT.length), text, keepFor: keepMs, serial },
      }));
      const answered = await answersTo(
        edits.filter((edit) => !isReport(edit)),
        report,
      );
      const left: Answer[] = reports.map(() => ({ isDone: true, row: undefined }));
      return { now: Date.now(), answers: [...answered, ...left] };
    },
    async list(prefix) {
      const reports = (await steps.reports?.(prefix.slice(REPORT.length))) ?? [];
      const rows = reports.map(
        ({ instance, text, age }) =>
          [REPORT + instance, rowOfSnapshot({ version: 1, age, payload: text })] as const,
      );
      return { now: Date.now(), rows };
    },
    async editions(name): Promise<ListedEdition[]> {
      if (steps.history !== undefined) {
        const found = await steps.history(of(name));
        return found.map(({ bytes, ...read }) => ({ row: rowOfSnapshot(read), bytes }));
      }
      const read = await steps.read(of(name));
      return read === undefined ? [] : [{ row: rowOfSnapshot(read), bytes: Buffer.byteLength(read.payload) }];
    },
  };
}
