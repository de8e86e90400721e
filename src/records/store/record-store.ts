import { versionRecord } from '../../cluster/history.ts';
import { namespacePrefix } from '../../cluster/namespace.ts';
import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type StoredReport,
  type StoredSnapshot,
  type WriteAnswer,
} from '../../cluster/store-contract.ts';
import type { VersionRecord } from '../../data/version-record.ts';
import { showKey } from '../../errors.ts';
import { SNAPSHOT } from '../names.ts';
import { only } from '../only.ts';
import { readOf } from '../read-of.ts';
import type { Answer, Edit, Row, Steps } from '../records.ts';
import { applyWith, reportsOf } from './reporting-records.ts';

/** The steps of a store on records: a snapshot is put under its token. Their requests are known to be sound. */
export class RecordStore {
  readonly #records: Steps;
  readonly #keepVersions: number;
  readonly #beginning: string;
  readonly #reports: string;

  /** @param namespace begins all names at the backend; callers see them without it. */
  constructor(records: Steps, keepVersions: number, namespace: string | undefined) {
    this.#records = records;
    this.#keepVersions = keepVersions;
    this.#beginning = SNAPSHOT + namespacePrefix(namespace);
    this.#reports = reportsOf(namespace);
  }

  async read(name: string, newerThan?: number, token?: number): Promise<StoredSnapshot | undefined> {
    const { row } = await this.#apply(readOf(this.#beginning + name, { newerThan, token }));
    // The note is that of the present edition.
    return row && snapshotOf(token === undefined ? row : { ...row, note: '' });
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
    const older = this.#keepVersions - 1;
    const put = { op: 'put', name: this.#beginning + name, token, over, text, keepMs, older } as const;
    const { isDone, row } = await this.#apply(put);
    const version = (row as Row).token;
    if (!Number.isSafeInteger(version))
      throw new TypeError(`its record has the version ${showKey(version)}, which is not a version`);
    return { kind: isDone ? 'written' : 'refused', version };
  }

  async confirm(name: string, token: number, note: string): Promise<WriteAnswer> {
    const amend = { op: 'amend', name: this.#beginning + name, token, id: undefined, phase: 'held' } as const;
    const { isDone, row } = await this.#apply({ ...amend, note, forMs: 0, keepMs: undefined });
    const isSound = row !== undefined && row.damage === undefined;
    return { kind: isDone ? 'written' : 'refused', version: isSound ? row.token : 0 };
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

/** An age of less than nothing is judged where all stores are. */
function snapshotOf({ token, text: payload, age, damage, place, note, changedAgo }: Row): StoredSnapshot {
  const confirmation = note === '' ? {} : { confirmation: { text: note, age: changedAgo } };
  if (damage === undefined) return { version: token, age, payload, ...confirmation };
  const version = Number.isSafeInteger(token) ? token : 0;
  const where = place === undefined ? 'record' : `file ${place}`;
  const about = `its ${where} is damaged: the field ${damage} in it is missing, implausible or of a wrong type`;
  return { version, age: 0, payload: '', damage: about };
}
