import type { Backend } from '../engine/backend.ts';
import { OptionChecks } from '../option-checks.ts';
import type { BackendOptions } from '../records/backend-options.ts';
import { SwappedRecords } from '../records/cells/swapped-records.ts';
import { type OpenRecords, RETENTION } from '../records/records-kind.ts';
import type { DurationLike } from '../time/duration.ts';
import { backendOn } from './backend.ts';
import { TextCells } from './cas/text-cells.ts';
import { EtcdClient, type EtcdOptions as EtcdServers } from './etcd/etcd-client.ts';
import { EtcdTexts } from './etcd/etcd-texts.ts';

export type { Backend } from '../engine/backend.ts';
export type { EtcdFetch, EtcdResponse } from './etcd/etcd-client.ts';

/** The options of {@link etcdBackend}. */
export interface EtcdBackendOptions extends BackendOptions, EtcdServers {
  /** The beginning of all keys. @default 'tickless/' */
  readonly prefix?: string | undefined;
  /**
   * How long a record is kept at least, and up to 1.8 times as long: of a lock counted from the end of its lease or hold, of a store
   * from the last write. Choose more than the time between two loads: an instance that starts later finds no snapshot. Over 0;
   * `Infinity`: for ever. @default 7 days
   */
  readonly retention?: DurationLike | undefined;
}

/**
 * A backend in etcd (3.4 or newer), over its HTTP API with JSON, by `fetch`: no package is needed. A key for each name,
 * which is replaced if it is still as it was. Names may have any length. etcd is made for small values: it keeps all of them in memory,
 * 2 GB by default, and each change of them until it is compacted (`--auto-compaction-retention`). Use it for values of some kilobytes, up
 * to some megabytes.
 *
 * The clock is that of the servers, by the header `Date` of their responses, which counts seconds: at first it is known to a
 * second, to 0.1 s by an instance that sends a command a second. A lease is never shorter than `leaseFor`. After a crash it ends later, as a
 * hold does, by as much as the two instances do not know: 3 s at most. Ages are too high by up to 3 s, and never too low. Synchronize the
 * clocks of the servers of a cluster. etcd's own leases delete records after the retention.
 *
 * An acquire is one command where no other instance has used the name since, or holds it now, else two, and two after some
 * minutes without a command; an extension and a release are one. A payload of up to 3 kB is in the key of its name; a longer one is in keys
 * of its own, of up to 1 MB each, which are written first. So a read is one command, or two; a write is one command, or two and one for each
 * megabyte. With `keepVersions` over 1 all payloads are in keys of their own. Reports of instances come with checks (`propagateWithin`), not
 * with the reads and writes of rounds. The user needs the rights to read and write the keys under `prefix`.
 *
 * ```ts no-run
 * import { RefreshingValue } from 'tickless';
 * import { etcdBackend } from 'tickless/etcd';
 *
 * const backend = etcdBackend({ endpoints: 'http://localhost:2379' });
 * const rates = new RefreshingValue({ name: 'rates', load: async () => ({ USD: 1.08 }), backend });
 * console.log(await rates.get());
 * ```
 *
 * @throws {TicklessError} `OPTION` when an option breaks a rule.
 */
export function etcdBackend(given: EtcdBackendOptions): Backend {
  return backendOn(openEtcd, given);
}

function openEtcd(options: EtcdBackendOptions): OpenRecords {
  const { prefix = 'tickless/', retention = RETENTION } = options ?? {};
  const checks = new OptionChecks('backend');
  checks.name('prefix', prefix);
  const retentionMs = checks.duration('retention', retention);
  checks.done();
  const texts = new EtcdTexts(new EtcdClient(options), prefix);
  return {
    backend: 'etcd',
    records: new SwappedRecords(new TextCells(texts), retentionMs),
    options: ['endpoints', 'user', 'fetch', 'prefix', 'retention'],
  };
}
