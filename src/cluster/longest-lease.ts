/**
 * The longest lease, and the longest hold of a finished round, in milliseconds: 365 days. The calendars and numbers of all
 * backends reach that far. Longer ones are refused; a member whose next round is due later holds its round for 365 days.
 */
export const LONGEST_LEASE_MS: number = 365 * 86_400_000;
