import type { PinStatus } from '../data/pin.ts';
import { shorterLimit } from '../engine/next-execution.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import { TicklessError } from '../errors.ts';
import { showInstant } from '../time/show-instant.ts';

/** The origin of a pin, as it travels with a snapshot. */
export interface PinOrigin {
  readonly by: string;
  readonly note?: string | undefined;
}

/** A version that a person holds in place: due loads, invalidations and other instances do not replace it. */
export interface Pin extends PinOrigin {
  /** When it was pinned (monotonic), or a little before. */
  readonly sinceAt: number;
  /** Due loads replace it again from then on (monotonic); `Infinity`: never by itself. */
  readonly untilAt: number;
  /** The age limit that its load returned, if any. It applies again when the pin is over. */
  readonly maxStalenessMs: number | undefined;
}

/**
 * While a version is pinned each instance that is read asks once in this time whether it still is, in milliseconds: one
 * command to the lock.
 */
export const PIN_CHECK_MS = 60_000;

/**
 * The age limit of a pinned version, in milliseconds: none until the pin is over, then its own.
 *
 * @param loadedAt when it was loaded (monotonic).
 * @param optionMs the limit of the member.
 */
export function limitWhilePinned(pin: Pin, loadedAt: number, optionMs: number): number {
  return Math.max(limitOf(pin, optionMs), pin.untilAt - loadedAt);
}

/** The age limit of a version without its pin, in milliseconds. @param optionMs the limit of the member. */
export function limitOf({ maxStalenessMs }: Pick<Pin, 'maxStalenessMs'>, optionMs: number): number {
  return shorterLimit(maxStalenessMs, optionMs) ?? optionMs;
}

/**
 * @param now the monotonic clock.
 * @param wall the wall clock.
 */
export function pinStatus({ by, note, sinceAt, untilAt }: Pin, now: number, wall: number): PinStatus {
  return { by, note, since: Math.round(wall - (now - sinceAt)), until: Math.round(wall + (untilAt - now)) };
}

/** The error of a caller that would replace a pinned version. */
export function pinnedError(options: ResolvedOptions, pin: Pin): TicklessError {
  return new TicklessError('PINNED', pinText(options, pin), { member: options.name });
}

/** `pinned by ann until 2026-11-20T05:00:00.000Z or unpin(): the list is wrong` */
export function pinText({ clock, now }: ResolvedOptions, pin: Pin): string {
  const { by, note, until } = pinStatus(pin, clock.monotonic(), now());
  const end = until === Infinity ? '' : `${showInstant(until)} or `;
  return `pinned by ${by} until ${end}unpin()${note === undefined ? '' : `: ${note}`}`;
}
