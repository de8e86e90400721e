import { type GroupOptions, RefreshGroup, type RefreshingValue, type ValueOptions } from '../../src/index.ts';
import { FakeClock } from '../../src/testing/index.ts';

/** Counts how often it is asked; beyond the limit it throws, so that who asks without end comes to one. */
export class CountingClock extends FakeClock {
  asked = 0;
  limit: number = Infinity;

  override monotonic(): number {
    this.asked += 1;
    if (this.asked > this.limit) throw new Error(`the clock was asked ${this.asked} times`);
    return super.monotonic();
  }
}

/** A group on such a clock, and how to fill it. */
export interface ManualGroup {
  readonly clock: CountingClock;
  readonly group: RefreshGroup;
  /** The names of the loads that were started, in their order. */
  readonly started: string[];
  /** A value that was put in now, and is due by its schedule. */
  value(name: string, schedule: number, own?: Partial<ValueOptions<string>>): RefreshingValue<string>;
}

export function manualGroup(options: GroupOptions = {}): ManualGroup {
  const clock = new CountingClock();
  const group = new RefreshGroup({ clock, retry: false, logger: false, schedule: 3_600_000, ...options });
  const started: string[] = [];
  function value(
    name: string,
    schedule: number,
    own: Partial<ValueOptions<string>> = {},
  ): RefreshingValue<string> {
    const load = async (): Promise<string> => {
      started.push(name);
      return name;
    };
    const made = group.value<string>({ name, load, schedule, ...own });
    made.set('by hand');
    return made;
  }
  return { clock, group, started, value };
}
