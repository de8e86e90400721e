// Schedules of the calendar: instants of a wall clock in a time zone. The core loads neither luxon nor croner.

export { cron, dailyAt, duringHours, type HoursOptions, type ZoneOptions } from './schedules.ts';
