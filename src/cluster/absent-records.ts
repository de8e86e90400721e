/**
 * How much longer than its absence the records of an absent key are kept, in milliseconds: longer than any step of a load
 * is late, and longer than `CLOCK_BACK_MS`. See "Records of absent keys" in docs/cluster.md.
 */
const ABSENT_SLACK_MS = 600_000;

/**
 * The `keepFor` of the records of a key.
 *
 * @param leftMs how long it stays absent from now on; `Infinity`: as long as the backend keeps anything.
 */
export function keepAbsentFor(leftMs: number): number | undefined {
  return leftMs === Infinity ? undefined : Math.max(0, leftMs) + ABSENT_SLACK_MS;
}
