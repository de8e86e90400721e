// `tickless/backend`: for a backend or a lock of your own.

export type { AcquireAnswer, AcquireRequest, LeaseId, ReleaseOutcome } from '../cluster/lock-contract.ts';
export { LONGEST_LEASE_MS } from '../cluster/longest-lease.ts';
export type { SignalBus, Signals, StopListening } from '../cluster/signal-contract.ts';
export type { Backend } from '../engine/backend.ts';
export type { BackendOptions } from '../records/backend-options.ts';
export type { Cells, Change, LongText, Seen, Swap } from '../records/cells/cells.ts';
export type { ClockSpan, ServerTime } from '../records/cells/known-clock.ts';
export { type AsLockOptions, asLock, type OwnLock } from '../records/lock/as-lock.ts';
export { createSignals } from '../signals/create-signals.ts';
export { type BackendKind, createBackend } from './create-backend.ts';
