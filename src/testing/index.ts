export type { ConformanceCase } from './conformance.ts';
export { FakeClock, type FakeClockOptions } from './fake-clock.ts';
export { type LockSubject, lockConformance } from './lock-conformance.ts';
export { type RecordsSubject, recordsConformance } from './records-conformance.ts';
export type { RunOptions } from './virtual/run-reads.ts';
export type { VirtualBackend } from './virtual/virtual-backend.ts';
export {
  type VirtualCluster,
  type VirtualClusterOptions,
  type VirtualInstances,
  virtualCluster,
} from './virtual/virtual-cluster.ts';
export type { VirtualInstance } from './virtual/virtual-instance.ts';
