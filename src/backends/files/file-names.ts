/** A numbered file. Without leading zeros, so that each number has one file name. */
const NUMBERED = /^(0|[1-9]\d{0,15})\.json$/;

/** A long text, and a file that is being written: names that no other program gives. */
const TEXT = /^tickless-[0-9a-f-]{36}\.text$/;
const TEMPORARY = /^tickless-[0-9a-f-]{36}\.tmp$/;

/** Contents of the folder of one name. */
export interface Listing {
  /** Ascending. */
  readonly numbers: readonly number[];
  /** Long texts, and files being written; or left by a process that was killed. */
  readonly others: readonly string[];
}

/** Of the entries of a folder those that are ours. */
export function listingOf(entries: readonly string[]): Listing {
  const numbered = entries.filter((entry) => NUMBERED.test(entry)).map((entry) => Number.parseInt(entry, 10));
  return {
    numbers: numbered.filter(isListed).sort((a, b) => a - b),
    others: entries.filter((entry) => TEXT.test(entry) || TEMPORARY.test(entry)),
  };
}

/** The file of a number. */
export function fileOf(number: number): string {
  return `${number}.json`;
}

/** Whether the next number is exact too. */
export function isListed(number: number): boolean {
  return number < Number.MAX_SAFE_INTEGER;
}

/** A long text in a file of its own. */
export interface TextFile {
  readonly file: string;
  readonly bytes: number;
}

/** Whether parsed data is a {@link TextFile}: no path leads out of its folder. */
export function isTextFile(data: unknown): data is TextFile {
  const { file, bytes } = (data ?? {}) as Partial<Record<keyof TextFile, unknown>>;
  return typeof file === 'string' && TEXT.test(file) && Number.isSafeInteger(bytes);
}
