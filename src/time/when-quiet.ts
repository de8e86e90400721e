/** A collection of items that ends with a pause. */
export interface Quiet {
  /** How many items there are; they only become more. */
  readonly size: () => number;
  /** How many checks in a row have to find no new item. */
  readonly checks: number;
  /** Schedules the next check. */
  readonly soon: (check: () => void) => void;
  /** The collection has ended otherwise: there are no more checks. */
  readonly isOver: () => boolean;
}

/** Calls `end` once no item has been added for a while. */
export function whenQuiet({ size, checks, soon, isOver }: Quiet, end: () => void): void {
  let count = 0;
  let quiet = 0;
  const check = (): void => {
    if (isOver()) return;
    quiet = size() === count ? quiet + 1 : 0;
    count = size();
    if (quiet >= checks) end();
    else soon(check);
  };
  soon(check);
}

/** The next microtask: for items that are added in the same turn of the event loop. */
export function soonInTurn(check: () => void): void {
  Promise.resolve().then(check);
}

/** A caller that awaits a little before it adds its item is included. */
export const QUIET_MICROTASKS = 8;
