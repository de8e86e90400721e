import { InvalidArgumentError, Option } from 'commander';
import { toMillis } from '../time/duration.ts';

/** Of commands that pin a version. */
export function holdOption(): Option {
  const description = 'how long it is pinned, such as 4h (default: until it is unpinned)';
  return new Option('--hold <duration>', description).argParser(duration);
}

/** A whole number over 0. */
export function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('must be a whole number over 0.');
  return number;
}

/** As the library takes it: with a unit. Up to a year, in milliseconds. */
export function duration(text: string): number {
  const ms = toMillis(text);
  if (!(ms > 0 && ms <= LONGEST_MS))
    throw new InvalidArgumentError('must be a duration with a unit, such as 4h or 30m, of up to 365d.');
  return Math.max(1, Math.round(ms));
}

const LONGEST_MS = 365 * 86_400_000;
