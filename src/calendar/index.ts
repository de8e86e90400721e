// Schedules of the calendar: instants of a wall clock in a time zone. The core loads neither luxon nor croner.

export { cron } from './cron.ts';
export { dailyAt, type ZoneOptions } from './daily-at.ts';
export { duringHours, type HoursOptions } from './during-hours.ts';
