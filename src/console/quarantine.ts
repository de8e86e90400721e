import { digestSteps } from '../data/content-digest.ts';
import { differenceOf } from '../data/difference.ts';
import type { GroupMember, QuarantineStatus, ValueStatus } from '../index.ts';
import { shownMessage } from './shown-texts.ts';
import { type ShownDifference, type ShownValues, shownDifference, shownValue } from './shown-value.ts';
import { nextTurn } from './watch-time.ts';

/** A refused value, for the decision of an operator. */
export interface ShownQuarantine {
  /** Names what is shown, for the actions that are based on it. */
  readonly digest: string;
  /** When it was loaded, in epoch milliseconds. */
  readonly loadedAt: number;
  /** From the value in place to the refused one; left out: there is none in place. */
  readonly difference?: ShownDifference;
  /** Why they could not be compared. */
  readonly differenceError?: string;
  /** The refused value as `showValue` returns it, as JSON. */
  readonly value?: string;
}

/**
 * The refused value of a member, or of a key of a cache, beside the value in place. Large ones are compared in turns of the event
 * loop.
 *
 * @param key of a cache; empty: the member is a value.
 * @returns `undefined`: there is none, or it is not kept.
 */
export async function shownQuarantine(
  { kind, name, member }: GroupMember,
  key: readonly [key?: unknown],
  values: ShownValues,
): Promise<ShownQuarantine | undefined> {
  if (kind === 'executor' || (kind === 'cache') !== key.length > 0) return undefined;
  const status = (kind === 'cache' ? member.inspect(key[0]) : member.inspect()) as
    | ValueStatus<unknown>
    | undefined;
  const refused: QuarantineStatus | undefined = status?.quarantine;
  if (status === undefined || refused === undefined || !('value' in refused)) return undefined;
  const digest = await digestOf(refused.value);
  const shown = shownValue(refused.value, { name, ...(kind === 'cache' ? { key: key[0] } : {}) }, values);
  const compared = 'value' in status ? await compare(status.value, refused, name, values) : {};
  return {
    digest,
    loadedAt: refused.loadedAt,
    ...compared,
    ...(shown === undefined ? {} : { value: shown }),
  };
}

async function compare(
  before: unknown,
  { value, idOf }: QuarantineStatus,
  name: string,
  values: ShownValues,
): Promise<Pick<ShownQuarantine, 'difference' | 'differenceError'>> {
  try {
    const difference = await differenceOf(before, value, idOf, nextTurn);
    return { difference: shownDifference(difference, name, values) };
  } catch (error) {
    return { differenceError: shownMessage(String(error), values.redact) }; // idOf threw
  }
}

/** As `digest` of its status, which is computed at once. */
async function digestOf(value: unknown): Promise<string> {
  const steps = digestSteps(value);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
