import type { PersonalChange } from '../../cluster/backend-steps.ts';
import { versionRecord } from '../../cluster/history.ts';
import { thisHost, thisProcess } from '../../cluster/identity.ts';
import { namespacePrefix } from '../../cluster/namespace.ts';
import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type ReplaceAnswer,
  type StoredReport,
  type StoredSnapshot,
  type WriteAnswer,
} from '../../cluster/store-contract.ts';
import type { VersionRecord } from '../../data/version-record.ts';
import { showKey } from '../../errors.ts';
import { endText, holderText } from '../lock-texts.ts';
import { LOCK, SNAPSHOT } from '../names.ts';
import { only } from '../only.ts';
import { readOf } from '../read-of.ts';
import type { Amend, Answer, Edit, Impose, Put, Read, Row, Steps } from '../records.ts';
import { applyWith, reportsOf } from './reporting-records.ts';

/** The steps of a store on records: a snapshot is put under its token. Their requests are known to be sound. */
export class RecordStore {
  readonly #records: Steps;
  readonly #keepVersions: number;
  readonly #beginning: string;
  readonly #locks: string;
  readonly #reports: string;

  /** @param namespace begins all names at the backend; callers see them without it. */
  constructor(records: Steps, keepVersions: number, namespace: string | undefined) {
    this.#records = records;
    this.#keepVersions = keepVersions;
    this.#beginning = SNAPSHOT + namespacePrefix(namespace);
    this.#locks = LOCK + namespacePrefix(namespace);
    this.#reports = reportsOf(namespace);
  }

  async read(name: string, newerThan?: number, token?: number): Promise<StoredSnapshot | undefined> {
    const { row } = await this.#apply(this.reading(name, newerThan, token));
    // The note is that of the present edition.
    return row && snapshotOf(token === undefined ? row : { ...row, note: '' });
  }

  /** The edit of a read. */
  reading(name: string, newerThan?: number, token?: number): Read {
    return readOf(this.#beginning + name, { newerThan, token });
  }

  /** The present version of each name; 0: none, or it is damaged. */
  async versions(names: readonly string[], report?: InstanceReport): Promise<(number | Error)[]> {
    if (names.length === 0 && report === undefined) return [];
    const reads = names.map((name) => readOf(this.#beginning + name, { isBrief: true }));
    const { answers } = await applyWith(this.#records, reads, report, this.#reports);
    return answers.map((answer) => {
      if (answer instanceof Error) return answer;
      const { row } = answer;
      return row === undefined || row.damage !== undefined ? 0 : row.token;
    });
  }

  /** @throws {TypeError} for a record that was edited by hand and can't be used. */
  async write(
    name: string,
    text: string,
    token?: number,
    over?: number,
    keepMs?: number,
  ): Promise<WriteAnswer> {
    return writeAnswer(await this.#apply(this.putting(name, text, token, over, keepMs)));
  }

  /** The edit of a write. */
  putting(name: string, text: string, token?: number, over?: number, keepMs?: number): Put {
    const older = this.#keepVersions - 1;
    return { op: 'put', name: this.#beginning + name, token, over, text, keepMs, older };
  }

  /** As of `StoreSteps`. @throws {TypeError} as {@link write}. */
  async change(
    name: string,
    text: string,
    { id, expected, sparesPinned, pinFor: pinMs, holdFor }: PersonalChange,
  ): Promise<WriteAnswer> {
    const put = { ...this.putting(name, text), id, expected, sparesPinned, pinMs };
    const impose: Impose = {
      ...{ op: 'impose', name: this.#locks + name, id, forMs: holdFor },
      text: holderText({ owner: thisProcess(), host: thisHost() }),
      note: endText({ state: 'done' }),
    };
    const { answers } = await this.#records.apply([put, impose]);
    return writeAnswer(only(answers));
  }

  /** Puts a text in the place of a version; 0: of none. Earlier ones are not kept. */
  async replace(name: string, text: string, expected: number): Promise<ReplaceAnswer> {
    const about = { op: 'put', name: this.#beginning + name, expected, text, older: 0 } as const;
    const put = { ...about, token: undefined, over: undefined, keepMs: undefined };
    const { answers } = await this.#records.apply([put, readOf(put.name)]);
    const [made, found] = answers.map((answer) => only([answer]));
    if (made?.isDone) return { kind: 'written', version: (made.row as Row).token };
    return { kind: 'refused', present: found?.row && snapshotOf(found.row) };
  }

  async confirm(name: string, token: number, note: string): Promise<WriteAnswer> {
    return confirmAnswer(await this.#apply(this.confirming(name, token, note)));
  }

  /** The edit of a confirmation. */
  confirming(name: string, token: number, note: string): Amend {
    const amend = { op: 'amend', name: this.#beginning + name, token, id: undefined, phase: 'held' } as const;
    return { ...amend, note, forMs: 0, keepMs: undefined };
  }

  async delete(name: string): Promise<boolean> {
    return (await this.#apply({ op: 'delete', name: this.#beginning + name })).isDone;
  }

  async history(name: string): Promise<VersionRecord[]> {
    const editions = await this.#records.editions(this.#beginning + name, BEGINNING_LENGTH);
    return editions.slice(0, this.#keepVersions).map(({ row, bytes }) => {
      const { payload, ...about } = snapshotOf(row);
      const [beginning = ''] = payload.slice(0, BEGINNING_LENGTH).split('\n', 1);
      return versionRecord({ ...about, beginning, bytes });
    });
  }

  async reports(): Promise<StoredReport[]> {
    const { rows } = await this.#records.list(this.#reports, MOST_REPORTS);
    const sound = rows.filter(([, { damage }]) => damage === undefined);
    return sound.map(([name, { text, age }]) => ({
      instance: name.slice(this.#reports.length),
      text,
      age: Math.max(0, age), // negative where the backend's clock was set back
    }));
  }

  async #apply(edit: Edit): Promise<Answer> {
    return only((await this.#records.apply([edit])).answers);
  }
}

/** @throws {TypeError} for a record that was edited by hand and can't be used. */
export function writeAnswer({ isDone, row }: Answer): WriteAnswer {
  const version = row === undefined ? 0 : row.token;
  if (!Number.isSafeInteger(version))
    throw new TypeError(`its record has the version ${showKey(version)}, which is not a version`);
  return { kind: isDone ? 'written' : 'refused', version };
}

export function confirmAnswer({ isDone, row }: Answer): WriteAnswer {
  const isSound = row !== undefined && row.damage === undefined;
  return { kind: isDone ? 'written' : 'refused', version: isSound ? row.token : 0 };
}

/** An age of less than nothing is judged where all stores are. */
export function snapshotOf({
  token,
  text: payload,
  age,
  damage,
  place,
  note,
  changedAgo,
}: Row): StoredSnapshot {
  const confirmation = note === '' ? {} : { confirmation: { text: note, age: changedAgo } };
  if (damage === undefined) return { version: token, age, payload, ...confirmation };
  const version = Number.isSafeInteger(token) ? token : 0;
  const where = place === undefined ? 'record' : `file ${place}`;
  const about = `its ${where} is damaged: the field ${damage} in it is missing, implausible or of a wrong type`;
  return { version, age: 0, payload: '', damage: about };
}
