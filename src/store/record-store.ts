import {
  BEGINNING_LENGTH,
  type InstanceReport,
  MOST_REPORTS,
  type SnapshotRead,
  type SnapshotWrite,
  type StoredReport,
  type StoredSnapshot,
  type StoredVersion,
  type WriteAnswer,
} from '../cluster/store-contract.ts';
import { REPORT, SNAPSHOT } from '../records/names.ts';
import { only } from '../records/only.ts';
import type { Answer, Edit, Put, Read, Records, Row } from '../records/records.ts';
import type { StoreBackend } from './store-backend.ts';

/** The steps of a store on records: a snapshot is put under its token; the report of an instance goes in the same command. */
export class RecordStore implements StoreBackend {
  readonly readMany: StoreBackend['readMany'];
  readonly writeMany: StoreBackend['writeMany'];
  readonly #records: Records;
  readonly #older: number;

  /** @param keepVersions as the caller gave it: `createStore` checks it. */
  constructor(records: Records, keepVersions: number = 1) {
    this.#records = records;
    this.#older = keepVersions - 1;
    if (records.mostEdits === 1) return;
    this.readMany = (reads, report) => this.#readMany(reads.map(readOf), report);
    this.writeMany = (writes, report) => this.#writeMany(writes, report);
  }

  get takesReports(): boolean {
    return this.#records.sharesCommands;
  }

  async read(
    name: string,
    newerThan?: number,
    token?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    return only(await this.#readMany([{ ...readOf({ name, newerThan }), token }], report));
  }

  async #readMany(
    reads: readonly Read[],
    report: InstanceReport | undefined,
  ): Promise<(StoredSnapshot | undefined | Error)[]> {
    const answers = await this.#apply(reads, report);
    return answers.map((answer) => {
      if (answer instanceof Error) return answer;
      return answer.row && snapshotOf(answer.row);
    });
  }

  async versions(names: readonly string[], report?: InstanceReport): Promise<(number | Error)[]> {
    const reads = names.map((name): Read => ({ ...readOf({ name }), isBrief: true }));
    const answers = await this.#apply(reads, report);
    return answers.map((answer) => {
      if (answer instanceof Error) return answer;
      const { row } = answer;
      return row === undefined || row.damage !== undefined ? 0 : row.token;
    });
  }

  async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    return only(await this.#writeMany([{ name, payload, token, rejected, keepFor }], report));
  }

  async #writeMany(
    writes: readonly SnapshotWrite[],
    report: InstanceReport | undefined,
  ): Promise<(WriteAnswer | Error)[]> {
    const answers = await this.#apply(
      writes.map((write) => this.#putOf(write)),
      report,
    );
    return answers.map((answer): WriteAnswer | Error => {
      if (answer instanceof Error) return answer;
      return { kind: answer.isDone ? 'written' : 'refused', version: (answer.row as Row).token };
    });
  }

  #putOf({ name, payload: text, token, rejected: over, keepFor: keepMs }: SnapshotWrite): Put {
    return { op: 'put', name: SNAPSHOT + name, token, over, text, keepMs, older: this.#older };
  }

  async delete(name: string): Promise<boolean> {
    const { answers } = await this.#records.apply([{ op: 'delete', name: SNAPSHOT + name }]);
    return only(answers).isDone;
  }

  async history(name: string): Promise<StoredVersion[]> {
    const editions = await this.#records.editions(SNAPSHOT + name, BEGINNING_LENGTH);
    return editions.map(({ row, bytes }) => {
      const { payload, ...about } = snapshotOf(row);
      const [beginning = ''] = payload.slice(0, BEGINNING_LENGTH).split('\n', 1);
      return { ...about, beginning, bytes };
    });
  }

  async reports(beginning: string): Promise<StoredReport[]> {
    const { rows } = await this.#records.list(REPORT + beginning, MOST_REPORTS);
    const sound = rows.filter(([, { damage }]) => damage === undefined);
    return sound.map(([name, { text, age }]) => ({ instance: name.slice(REPORT.length), text, age }));
  }

  /** The report is lost where it can't be stored, and changes nothing about the edits. */
  async #apply(
    edits: readonly Edit[],
    report: InstanceReport | undefined,
  ): Promise<readonly (Answer | Error)[]> {
    if (report === undefined) return edits.length === 0 ? [] : (await this.#records.apply(edits)).answers;
    const { answers } = await this.#records.apply([...edits, reportOf(report)]);
    return answers.slice(0, edits.length);
  }
}

function reportOf({ instance, text, keepFor: keepMs }: InstanceReport): Put {
  return { op: 'put', name: REPORT + instance, text, keepMs, older: 0 };
}

function readOf({ name, newerThan }: SnapshotRead): Read {
  return { op: 'read', name: SNAPSHOT + name, newerThan };
}

/** An age of less than nothing is judged where all stores are. */
function snapshotOf({ token, text: payload, age, damage, place }: Row): StoredSnapshot {
  if (damage === undefined) return { version: token, age, payload };
  const version = Number.isSafeInteger(token) ? token : 0;
  const where = place === undefined ? 'record' : `file ${place}`;
  const about = `its ${where} is damaged: the field ${damage} in it is missing, implausible or of a wrong type`;
  return { version, age: 0, payload: '', damage: about };
}
