export { FakeClock, type FakeClockOptions } from './fake-clock.ts';
