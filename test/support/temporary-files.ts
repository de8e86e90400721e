// The names of temporary files, as a process leaves them behind that is killed.

const nameOf = (n: number): string => `tickless-${n}e3f1c3a-7d43-4bb1-9d9b-0f8d2a1c3e55.tmp`;

export const OLD: string = nameOf(1);
export const RECENT: string = nameOf(2);

/** The same of long texts. */
export const OLD_TEXT: string = OLD.replace('.tmp', '.text');
export const RECENT_TEXT: string = RECENT.replace('.tmp', '.text');
