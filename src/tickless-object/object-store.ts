import { oneByOne } from '../cluster/one-by-one.ts';
import type {
  InstanceReport,
  SnapshotRead,
  SnapshotWrite,
  StoredSnapshot,
  WriteAnswer,
} from '../cluster/store-contract.ts';
import { CasStore } from '../store/cas-store.ts';

/** The steps of a store in its object, also those for several names, and with the report of an instance. */
export class ObjectStore extends CasStore {
  override async read(
    name: string,
    newerThan?: number,
    wanted?: number,
    report?: InstanceReport,
  ): Promise<StoredSnapshot | undefined> {
    if (report !== undefined) await this.versions([], report);
    return super.read(name, newerThan, wanted);
  }

  override async write(
    name: string,
    payload: string,
    token?: number,
    rejected?: number,
    keepFor?: number,
    report?: InstanceReport,
  ): Promise<WriteAnswer> {
    if (report !== undefined) await this.versions([], report);
    return super.write(name, payload, token, rejected, keepFor);
  }

  async readMany(
    reads: readonly SnapshotRead[],
    report?: InstanceReport,
  ): Promise<(StoredSnapshot | undefined | Error)[]> {
    if (report !== undefined) await this.versions([], report);
    return oneByOne(reads, ({ name, newerThan }) => this.read(name, newerThan));
  }

  async writeMany(
    writes: readonly SnapshotWrite[],
    report?: InstanceReport,
  ): Promise<(WriteAnswer | Error)[]> {
    if (report !== undefined) await this.versions([], report);
    return oneByOne(writes, ({ name, payload, token, rejected, keepFor }) =>
      this.write(name, payload, token, rejected, keepFor),
    );
  }
}
