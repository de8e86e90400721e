// The executor, and the caches built on it.

export type { LoadManyContext } from './cache/batches.ts';
export type { CacheOptions, KeyContext } from './cache/cache-options.ts';
export type { CacheStatus } from './cache/cache-status.ts';
export { RefreshingCache } from './cache/refreshing-cache.ts';
// As functions.
export type {
  KeyedRefreshingFunction,
  KeyedRefreshingFunctionOptions,
  RefreshingFunction,
  RefreshingFunctionOptions,
} from './callable/refreshing.ts';
export { refreshing } from './callable/refreshing.ts';
// In a cluster.
export {
  type LockedContext,
  type LockedOutcome,
  type LockedTask,
  type LockedTaskOptions,
  lockedTask,
} from './cluster/locked-task.ts';
export type { Codec } from './cluster/store-contract.ts';
export type { CloseReport } from './data/close-report.ts';
// The versions of a value.
export type { Difference } from './data/difference.ts';
export type {
  ExecutionOutcome,
  ExecutionRecord,
  ReportedExecution,
  Trigger,
} from './data/execution-record.ts';
export type { ExecutorRun } from './data/executor-run.ts';
export type { Fleet } from './data/fleet.ts';
export type { VersionRecord } from './data/version-record.ts';
export { derive } from './derive/derive.ts';
export type { Derived, DerivedStatus } from './derive/derived.ts';
export type { Backend } from './engine/backend.ts';
// Arguments and results of loads.
export type { LoadContext, TaskContext } from './engine/load-context.ts';
export {
  type Absent,
  absent,
  type KeepOptions,
  type Kept,
  type KeyedLoadReturn,
  keep,
  type Loaded,
  type LoadReturn,
  loaded,
} from './engine/load-result.ts';
export type { ReadOptions } from './engine/reader.ts';
export type { Refused } from './engine/refused.ts';
export type { ExecutionStatus } from './engine/status.ts';
// Errors.
export { type ErrorCode, isTicklessError, TicklessError } from './errors.ts';
export type { GroupMember, HealthProblem } from './group/member.ts';
export { type GroupOptions, type GroupStatus, type Health, RefreshGroup } from './group/refresh-group.ts';
export type { Accept } from './guard/accept.ts';
export type { MemberCounts } from './observe/counters.ts';
// Observation.
export type { EventOf, EventType, TicklessEvent } from './observe/events.ts';
export type { LoadTimes } from './observe/load-times.ts';
export type { Logger } from './observe/logger.ts';
// Options of all members.
export { defaults } from './options/defaults.ts';
export type { SharedOptions } from './options/shared-options.ts';
export { earliest } from './schedule/earliest.ts';
export { fixedDelay } from './schedule/fixed-delay.ts';
export { fixedRate } from './schedule/fixed-rate.ts';
export { httpFreshness } from './schedule/http-freshness.ts';
export { probabilisticEarly } from './schedule/probabilistic-early.ts';
// Schedules.
export type { Execution, Schedule, ScheduleLike } from './schedule/schedule.ts';
export { withJitter } from './schedule/with-jitter.ts';
export type { StandardSchema } from './schema.ts';
export type { Clock } from './time/clock.ts';
export type { DurationLike, DurationObject } from './time/duration.ts';
export { type AgeHeaders, ageHeaders } from './value/age-headers.ts';
export { PeriodicExecutor, type TaskOptions } from './value/periodic-executor.ts';
export type { ReadResult } from './value/read-result.ts';
export { RefreshingValue, type ValueOptions } from './value/refreshing-value.ts';
export type { ValueStatus } from './value/value-status.ts';
