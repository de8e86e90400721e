import { isNumber } from '../option-checks.ts';

/** Something has changed. */
export interface Signal {
  /** The store object that sends it. */
  readonly from: string;
  /** How many instances use the store, as the sender knows; `undefined`: it does not know. */
  readonly instances: number | undefined;
}

/** Tells signals from other messages, and names their format. */
const MARK = 'signal/1';

/** No signal is longer. */
const LONGEST = 200;

/** Up to this number of instances ask at once. The checks of more are that far apart on average, in milliseconds. */
const AT_ONCE = 10;
const APART_MS = 5;

export function encodeSignal({ from, instances }: Signal): string {
  return JSON.stringify({ tickless: MARK, from, instances });
}

/** `undefined`: it is not a signal. Never throws. */
export function decodeSignal(text: unknown): Signal | undefined {
  if (typeof text !== 'string' || text.length > LONGEST) return undefined;
  try {
    const { tickless, from, instances } = JSON.parse(text);
    if (tickless !== MARK || typeof from !== 'string') return undefined;
    return { from, instances: isNumber(instances, 1, Infinity) ? instances : undefined };
  } catch {
    return undefined;
  }
}

/**
 * Within what time an instance checks the store after a signal, in milliseconds: a few ask at once, a thousand do
 * not. `Infinity`: whenever it would check anyway.
 */
export function checkWithin({ instances = Infinity }: Signal): number {
  return APART_MS * Math.max(0, instances - AT_ONCE);
}
