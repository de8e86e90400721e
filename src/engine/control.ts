import type { ScheduleLike } from '../schedule/schedule.ts';
import type { ScheduleData } from '../schedule/schedule-data.ts';

/** Settings of a member on all instances. A field that is left out stays as it is. */
export interface Control {
  readonly isPaused?: boolean;
  readonly schedule?: ScheduleData;
}

/** A member, as it is controlled from another instance. */
export interface ControlledMember {
  pause(): void;
  resume(): void;
  /** @throws {OptionError} when it is not a schedule. */
  reschedule(schedule: ScheduleLike): void;
}
