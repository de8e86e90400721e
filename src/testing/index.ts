export type { ConformanceCase } from './conformance.ts';
export { FakeClock, type FakeClockOptions } from './fake-clock.ts';
export { type DamagedField, type LockSubject, lockConformance } from './lock-conformance.ts';
export { type StoreSubject, storeConformance } from './store-conformance.ts';
