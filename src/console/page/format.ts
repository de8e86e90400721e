import { printable } from '../../printable.ts';
import { showDuration } from '../../time/show-duration.ts';
import { now } from './state.ts';

/** A text of others in one line, without marks that turn its direction. */
export function text(given: string, longest: number = 300): string {
  return printable(given, longest);
}

/** How old, in whole seconds: `3 min`. Renders anew each second. */
export function age(at: number): string {
  const ms = now.value - at;
  return ms < 1000 ? '0 s' : duration(ms);
}

/** In its greatest unit, rounded down: `59 min`. For lists, which have little room. */
export function brief(ms: number): string {
  const unitMs = UNITS_MS.find((unit) => ms >= unit) ?? 1000;
  return duration(Math.floor(ms / unitMs) * unitMs);
}

const UNITS_MS: readonly number[] = [86_400_000, 3_600_000, 60_000];

/** How long it takes until then; `now` when it is over. */
export function until(at: number, show: (ms: number) => string = duration): string {
  const left = at - now.value;
  return left <= 0 ? 'now' : `in ${show(left)}`;
}

/** Whole seconds below ten of them too: the page counts seconds. */
export function duration(ms: number): string {
  if (ms < 1000) return ms < 1 ? '0 s' : `${Math.round(ms)} ms`;
  return showDuration(Math.round(ms / 1000) * 1000);
}

/** Versions are instants in microseconds: they differ in their last digits. */
export function version(given: number | undefined): string {
  if (given === undefined) return 'none';
  const digits = String(given);
  return digits.length > 8 ? `…${digits.slice(-7)}` : digits;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const MINUTE = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

const ZONED = new Intl.DateTimeFormat(undefined, {
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** The time of day with the zone of the browser, which is that of no schedule. On another day the date too. */
export function zoned(at: number): string {
  const shown = ZONED.format(at);
  return isToday(at) ? shown : `${DATE.format(at)}, ${shown}`;
}

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function time(at: number): string {
  return TIME.format(at);
}

/** The time of day, to the second. */
export function clock(at: number): string {
  return CLOCK.format(at);
}

/** The time of day, to the minute; on another day the date too. */
export function minute(at: number): string {
  return isToday(at) ? MINUTE.format(at) : time(at);
}

/** The same to the second. */
export function second(at: number): string {
  return isToday(at) ? clock(at) : time(at);
}

function isToday(at: number): boolean {
  return new Date(at).toDateString() === new Date(now.value).toDateString();
}

export function bytes(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
