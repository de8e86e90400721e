import type { KeysMark } from '../data/mark.ts';
import type { PolledKeys } from '../engine/coordinator.ts';
import { Board } from './board.ts';
import { THIS_EDITION } from './board-codec.ts';
import type { ClusterMember } from './cluster-member.ts';
import type { OwnMember } from './fleet-report.ts';
import {
  datedLog,
  EMPTY,
  type InvalidationLog,
  lostUpTo,
  type MarksOnKeys,
  marksAfter,
  outOfDateUpTo,
  withMarks,
} from './invalidation-log.ts';
import { reportedKeys } from './reported-keys.ts';
import type { Reporting } from './store-reports.ts';

/**
 * The marks on the keys of a cache: publishes those of this instance, and applies those of the others here.
 *
 * They are in an invalidation log, a board under the bare name of the cache, so that a check asks about one name however many keys
 * there are.
 */
export class KeyMarks extends Board<InvalidationLog, KeysMark> implements Reporting, MarksOnKeys {
  protected readonly member: ClusterMember;
  readonly poller: ClusterMember;
  readonly #keys: PolledKeys;

  /** @param member the cache. */
  constructor(member: ClusterMember, keys: PolledKeys) {
    super(EMPTY);
    this.member = member.forInvalidationLog();
    this.poller = member;
    this.#keys = keys;
  }

  reported(): OwnMember {
    return reportedKeys(this.member, this.#keys, this.knownVersion);
  }

  /** The version up to which values of a key with these tags are out of date. */
  outOfDateUpTo(id: unknown, tags: readonly string[] | undefined): number {
    return outOfDateUpTo(this.board, id, tags);
  }

  isBeingMarked(tags: readonly string[] | undefined): boolean {
    return this.unpublished.some(
      (mark) => mark.of === 'all' || (mark.of === 'tag' && tags?.includes(mark.tag) === true),
    );
  }

  protected memberFor(): ClusterMember {
    return this.member;
  }

  protected changed(log: InvalidationLog, marks: readonly KeysMark[]): InvalidationLog {
    return withMarks(log, marks, THIS_EDITION);
  }

  protected dated(log: InvalidationLog, version: number): InvalidationLog {
    return datedLog(log, version);
  }

  protected without(log: InvalidationLog, version: number): InvalidationLog {
    return lostUpTo(log, version);
  }

  protected taken(after: number, writtenAt: number): void {
    for (const { mark, upTo } of marksAfter(this.board, after)) this.#keys.apply(mark, upTo, writtenAt);
  }
}
