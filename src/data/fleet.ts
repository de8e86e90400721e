import type { JsonStatus } from '../json.ts';
import type { ReportedExecution } from './execution-record.ts';

/** The name of a member, unique among those of a store. */
export interface MemberName {
  readonly name: string;
}

/** A member of an instance, as that instance has reported it. */
export interface ReportedMember extends MemberName {
  readonly kind: 'value' | 'cache' | 'executor';
  /**
   * Of the value in place; `undefined`: there is none, or it has no version (it was set or loaded for that instance only). Of a
   * cache that of the last mark on its keys which the instance knows; `undefined`: it knows none.
   */
  readonly version: number | undefined;
  /**
   * The version that it was reading from the store, or was publishing, when it left the report. It holds that since, unless it could
   * not use it, or the write did not arrive: its next report tells. 0: it had no value, and was reading any. `undefined`: neither.
   */
  readonly takingOver: number | undefined;
  /**
   * The age of the value by now, in milliseconds; of a task the time since its last success that the instance knows of. `undefined`:
   * there is none, or it is a cache.
   */
  readonly age: number | undefined;
  /** Failures in a row; of a cache how many keys have a last load that failed. */
  readonly failures: number;
  /** The message of the last failure, of a cache that of one of these keys, at most 200 characters; `undefined`: none failed. */
  readonly error: string | undefined;
  /** The person who has pinned the version in place, and the reason; `undefined`: it is not pinned. */
  readonly pinned: { readonly by: string; readonly note: string | undefined } | undefined;
  /** Why the last loaded value was refused, and for how long such values are, in milliseconds; `undefined`: none was since one was accepted. */
  readonly refused: { readonly reason: string; readonly for: number } | undefined;
  /** Its last executions, newest first; not present where none has failed in the last 24 hours, or the report had no room. */
  readonly executions?: readonly ReportedExecution[];
}

/** An instance: a store object of a process, with the members that use it. */
export interface InstanceName {
  /** Unique. That of the first store object of a process is the `owner` of its leases and snapshots. */
  readonly id: string;
  /** The host name, for people. */
  readonly host: string;
}

/** An instance, as it has reported itself. */
export interface FleetInstance extends InstanceName {
  /** It is the one that asks; not present for the others, and in `store.fleet()`. */
  readonly isHere?: true;
  /** How long ago its first member was made, in milliseconds. */
  readonly upFor: number;
  /** The age of its report in milliseconds. */
  readonly seenAgo: number;
  /** Its report is older than it lasts: nothing has read it since, or it was killed. Not present: it is live. */
  readonly isIdle?: true;
  /** How many members are not in the report, which is bounded. */
  readonly leftOut: number;
  readonly members: readonly ReportedMember[];
}

/** An instance, with what distinguishes it in one respect. */
export type InstanceWith<Details> = InstanceName & Details;

/** A member on all instances that have it. */
export interface FleetMember extends MemberName {
  readonly kind: ReportedMember['kind'];
  /** The newest that an instance has. `undefined`: none has any. */
  readonly version: number | undefined;
  /** How many instances have it. */
  readonly of: number;
  /** How many of these have the newest version; of a cache: know all marks. */
  readonly holding: number;
  /** How many others were taking it over when they left their reports: without `propagateWithin` they report it with their next round. */
  readonly takingOver: number;
  /**
   * Those with an older version, or with a value without one (`undefined`). Instances without a value, and those that were
   * taking over the newest version, are not among them. Of a cache those that do not know all marks.
   */
  readonly behind: readonly InstanceWith<Pick<ReportedMember, 'version'>>[];
  /** The greatest age of a value, in milliseconds; of a task the time since its last success. `undefined`: no instance has any. */
  readonly oldest: number | undefined;
  /** Those whose last load failed. */
  readonly failing: readonly InstanceWith<Pick<ReportedMember, 'failures' | 'error'>>[];
  /** Those that know of a pin. */
  readonly pinned: readonly InstanceWith<NonNullable<ReportedMember['pinned']>>[];
  /** Those whose last loaded value was refused. */
  readonly refused: readonly InstanceWith<NonNullable<ReportedMember['refused']>>[];
  /** All that in one line, for people: `37 of 40 hold version 812, oldest 11 min, pod-7 failing: ECONNREFUSED`. */
  readonly text: string;
}

/** The live instances that use a store, by their last reports. A copy: it does not change. */
export interface Fleet extends JsonStatus {
  /** By host and id; those of a group store by store. */
  readonly instances: readonly FleetInstance[];
  /**
   * Those that were live in the last ten minutes, likewise: no member counts them. Each is there
   * again when it is read.
   */
  readonly idle: readonly FleetInstance[];
  /** By name, likewise. */
  readonly members: readonly FleetMember[];
  /** Of a group: the stores that did not answer. Not present: all did. */
  readonly unanswered?: readonly UnansweredStore[];
}

/** A store that did not answer: of its members nothing is known of other instances. */
export interface UnansweredStore {
  /** Those that use it. */
  readonly members: readonly MemberName[];
  readonly error: Error;
}
