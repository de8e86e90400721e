// The executor, and the caches built on it.

export type { ManyAnswers, WhenMissing } from './cache/batch-results.ts';
export type { LoadMany, LoadManyContext } from './cache/batches.ts';
export type { KeyContext, RefreshingCacheOptions } from './cache/cache-options.ts';
export type { CacheStatus } from './cache/cache-status.ts';
export type { GetManyOptions } from './cache/read-many.ts';
export { RefreshingCache } from './cache/refreshing-cache.ts';
export type { StartKeysOptions } from './cache/start-requests.ts';
// As functions.
export type {
  AnyLoad,
  CallOf,
  KeyedRefreshingFunction,
  KeyedRefreshingFunctionOptions,
  LoadedBy,
  RefreshingFunction,
  RefreshingFunctionOptions,
} from './callable/callable-types.ts';
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
export type { CloseReport, CutOff, LeaseLeft } from './data/close-report.ts';
// The versions of a value.
export type { ChangedItem, Difference, Item, Samples } from './data/difference.ts';
export type {
  ExecutionOutcome,
  ExecutionRecord,
  ReportedExecution,
  Trigger,
} from './data/execution-record.ts';
export type { ExecutorRun } from './data/executor-run.ts';
export type {
  Fleet,
  FleetInstance,
  FleetMember,
  InstanceName,
  InstanceWith,
  MemberName,
  ReportedMember,
  UnansweredStore,
} from './data/fleet.ts';
export type { IdOf } from './data/id-of.ts';
export type { Mark } from './data/mark.ts';
export type { PinStatus } from './data/pin.ts';
export type { ValueMeta } from './data/value-meta.ts';
export type { RollbackOptions, UnpinOptions } from './data/version-control.ts';
export type { VersionMaker, VersionRecord } from './data/version-record.ts';
export { type Derivable, type DeriveOptions, derive, type ValuesOf } from './derive/derive.ts';
export type { Derived, DerivedStatus } from './derive/derived.ts';
export type { Backend } from './engine/backend.ts';
export type { ChecksStatus, LockLike, LockStatus, StoreLike } from './engine/coordinator.ts';
export type { WhenFailing, WhenTooStale } from './engine/decide.ts';
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
  type LoadedOptions,
  type LoadReturn,
  loaded,
} from './engine/load-result.ts';
export type { QuarantineStatus, SeenQuarantine } from './engine/quarantined.ts';
export type { ReadOptions } from './engine/reader.ts';
export type { WhenLockUnavailable } from './engine/resolved-options.ts';
export type { RetryOptions } from './engine/retry.ts';
export type { ScopeOptions } from './engine/scope.ts';
export type { ExecutionStatus } from './engine/status.ts';
// Errors.
export { type ErrorCode, isTicklessError, TicklessError } from './errors.ts';
export type { GroupMember, HealthProblem } from './group/member.ts';
export {
  type GroupDefaults,
  type GroupStartOptions,
  type GroupStatus,
  type Health,
  type HealthOptions,
  type ReadyOptions,
  RefreshGroup,
  type RefreshGroupOptions,
} from './group/refresh-group.ts';
export type { Accept, AcceptDetails } from './guard/accept.ts';
export type { GuardOptions } from './guard/guard-options.ts';
export type { Unchanged } from './guard/unchanged.ts';
export type { JsonStatus } from './json.ts';
export type { MemberCounts } from './observe/counts.ts';
// Observation.
export type { EventOf, EventType, TicklessEvent } from './observe/events.ts';
export type { LoadTimes } from './observe/load-times.ts';
export type { Logger } from './observe/logger.ts';
export type { WaitUntil } from './observe/wait-until.ts';
// Options of all members.
export { defaults } from './options/defaults.ts';
export type { GroupLike } from './options/group-handle.ts';
export type {
  CoolDownOptions,
  SharedOptions,
  SingleSharedOptions,
  ValueSharedOptions,
} from './options/shared-options.ts';
export { earliest } from './schedule/earliest.ts';
export { fixedDelay } from './schedule/fixed-delay.ts';
export { type FixedRateOptions, fixedRate } from './schedule/fixed-rate.ts';
export { type HttpFreshnessOptions, httpFreshness } from './schedule/http-freshness.ts';
export { never } from './schedule/never.ts';
export { type ProbabilisticEarlyOptions, probabilisticEarly } from './schedule/probabilistic-early.ts';
// Schedules.
export type { Execution, HeadersLike, Schedule, ScheduleLike } from './schedule/schedule.ts';
export { type JitterRatio, withJitter } from './schedule/with-jitter.ts';
export type { StandardResult, StandardSchema } from './schema.ts';
export type { Clock, Timer } from './time/clock.ts';
export type { DurationLike, DurationObject } from './time/duration.ts';
export { type AgeHeaders, ageHeaders } from './value/age-headers.ts';
export type { InitialValue } from './value/initial.ts';
export type { CloseOptions, Lifecycle } from './value/lifecycle.ts';
export type { Periodic, RequestStartOptions } from './value/periodic.ts';
export {
  type ExecutorStatus,
  PeriodicExecutor,
  type PeriodicExecutorOptions,
  type Task,
} from './value/periodic-executor.ts';
export type { ReadResult } from './value/read-result.ts';
export {
  type InvalidateOptions,
  RefreshingValue,
  type RefreshingValueOptions,
  type RefreshOptions,
} from './value/refreshing-value.ts';
export type { SetOptions } from './value/shared-change.ts';
export type { InspectOptions, ValueStatus } from './value/value-status.ts';
