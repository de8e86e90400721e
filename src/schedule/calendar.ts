import type { Schedule } from './schedule.ts';

const calendars: WeakSet<Schedule> = /* @__PURE__ */ new WeakSet();

/** The schedule, which is known as one of instants of a calendar from now on: a person has chosen the hour. */
export function asCalendar(schedule: Schedule): Schedule {
  calendars.add(schedule);
  return schedule;
}

export function isCalendar(schedule: Schedule): boolean {
  return calendars.has(schedule);
}

/** The schedule that wraps others: it is one of a calendar where all of them are. */
export function wrapped(schedule: Schedule, ...inner: readonly Schedule[]): Schedule {
  return inner.every(isCalendar) ? asCalendar(schedule) : schedule;
}
