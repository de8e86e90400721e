import type { OptionChecks } from '../option-checks.ts';

/** The person or tool that has a version published, and the reason, for people. */
export interface PublishOrigin {
  /** The name of the person or tool, up to 500 characters. @default undefined: not named */
  readonly by?: string | undefined;
  /** Why, up to 500 characters. @default undefined: none */
  readonly note?: string | undefined;
}

/** The longest `by` and `note`, in characters: they travel with each read of the snapshot. */
const LONGEST_TEXT = 500;

/** Checks both texts. */
export function checkOrigin({ by, note }: PublishOrigin, checks: OptionChecks, isByRequired: boolean): void {
  const rule = `must be a text of at most ${LONGEST_TEXT} characters`;
  const isShort = (text: unknown): boolean => typeof text === 'string' && text.length <= LONGEST_TEXT;
  checks.that(by === undefined ? !isByRequired : isShort(by) && by !== '', 'by', `${rule}, not empty`, by);
  checks.that(note === undefined || isShort(note), 'note', rule, note);
}
