/** By how much the wall clock must have moved against the monotonic one to count as stepped, not slewed. */
const STEP_TOLERANCE_MS = 1000;

/**
 * The step of the wall clock between two readings of "wall clock minus monotonic clock", in milliseconds; 0 for the
 * drift of a clock that is being slewed.
 */
export function clockStep(offsetBefore: number, offsetNow: number): number {
  const stepMs = Math.round(offsetNow - offsetBefore);
  return Math.abs(stepMs) > STEP_TOLERANCE_MS ? stepMs : 0;
}
