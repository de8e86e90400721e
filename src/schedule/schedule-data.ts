import { type DurationLike, toMillis } from '../time/duration.ts';
import type { Schedule, ScheduleLike } from './schedule.ts';

/** A schedule as data, of which another instance makes the same schedule. It is kept as JSON. */
export interface ScheduleData {
  /** The name of the function that makes it, or `every` for a duration. */
  readonly of: string;
  /** The arguments of that function, or the milliseconds. JSON has no `Infinity`: `null`. */
  readonly given: readonly unknown[];
}

type Maker = (...given: never[]) => ScheduleLike;

/** A function is known where its file is loaded: programs that do not use it do not carry it. */
const makers: Map<string, Maker> = /* @__PURE__ */ new Map();
const known: WeakMap<object, ScheduleData> = /* @__PURE__ */ new WeakMap();

/** From now on the schedules of this function can be made of data. */
export function madeOfData(of: string, maker: Maker): void {
  makers.set(of, maker);
}

/** The same schedule, which is known as data from now on. */
export function withData(schedule: Schedule, of: string, ...given: readonly unknown[]): Schedule {
  known.set(schedule, { of, given });
  return schedule;
}

/** A duration, or a schedule that is known as data; `undefined`: it is neither. Never throws. */
export function dataOf(schedule: ScheduleLike): ScheduleData | undefined {
  const everyMs = toMillis(schedule as DurationLike);
  return everyMs > 0 ? { of: 'every', given: [everyMs] } : known.get(schedule as object);
}

/** @throws {Error} when the function is not known here. @throws {OptionError} when it refuses the arguments. */
export function scheduleOfData({ of, given }: ScheduleData): ScheduleLike {
  if (of === 'every') return (given[0] ?? Infinity) as number;
  const maker = makers.get(of);
  if (maker === undefined) throw new Error(`this program does not import ${of} of 'tickless/calendar'`);
  return maker(...(given as never[]));
}
