import type { KeysMark } from '../data/mark.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { OwnMember } from './fleet-report.ts';
import {
  EMPTY,
  type InvalidationLog,
  lostUpTo,
  type MarksOnKeys,
  marksAfter,
  outOfDateUpTo,
  withMarks,
} from './invalidation-log.ts';
import { PolledRecord } from './polled-record.ts';
import { reportedKeys } from './reported-keys.ts';
import type { Reporting } from './store-reports.ts';

/**
 * The marks on the keys of a cache: publishes those of this instance, and applies those of the others here.
 *
 * They are in an invalidation log, a snapshot of its own under the bare name of the cache, so that a check asks about one name however
 * many keys there are.
 */
export class KeyMarks extends PolledRecord<InvalidationLog, KeysMark> implements Reporting, MarksOnKeys {
  protected readonly member: ClusterMember;
  readonly poller: ClusterMember;
  readonly #keys: PolledKeys;
  #log: InvalidationLog = EMPTY;

  /** @param member the cache. */
  constructor(member: ClusterMember, keys: PolledKeys) {
    super(EMPTY);
    this.member = member.forInvalidationLog();
    this.poller = member;
    this.#keys = keys;
  }

  reported(): OwnMember {
    return reportedKeys(this.member, this.#keys, this.applied);
  }

  /** The version up to which values of a key with these tags are out of date. */
  outOfDateUpTo(id: unknown, tags: readonly string[] | undefined): number {
    return outOfDateUpTo(this.#log, id, tags);
  }

  isBeingMarked(tags: readonly string[] | undefined): boolean {
    return this.unpublished.some(
      (mark) => mark.of === 'all' || (mark.of === 'tag' && tags?.includes(mark.tag) === true),
    );
  }

  protected memberFor(): ClusterMember {
    return this.member;
  }

  protected changed(marks: readonly KeysMark[], version: number): InvalidationLog {
    this.#log = withMarks(this.#log, marks, version);
    return this.#log;
  }

  protected take(
    found: InvalidationLog | undefined,
    version: number,
    after: number,
    writtenAt: number,
  ): void {
    this.#log = found ?? lostUpTo(this.#log, version);
    for (const { mark, upTo } of marksAfter(this.#log, after)) this.#keys.apply(mark, upTo, writtenAt);
  }
}
