import { InvalidArgumentError, Option } from 'commander';

/** Of commands that pin a version. */
export function holdOption(): Option {
  const description = 'how long it is pinned (default: until it is unpinned)';
  return new Option('--hold <minutes>', description).argParser(minutes);
}

/** A whole number over 0. */
export function whole(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new InvalidArgumentError('must be a whole number over 0.');
  return number;
}

/** Up to a year, in milliseconds. */
export function minutes(text: string): number {
  const number = Number(text);
  if (!(number > 0 && number <= 525_600))
    throw new InvalidArgumentError('must be minutes from over 0 to 525600.');
  return Math.max(1, Math.round(number * 60_000));
}
