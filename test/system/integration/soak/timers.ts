/**
 * Counts the running timers of this process from now on, those too that do not keep it alive: they go through the
 * globals, which tickless and the clients look up at each call.
 */
export function countTimers(): () => number {
  const running = new Set<unknown>();
  const { setTimeout, clearTimeout } = globalThis;
  const counting = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): unknown => {
    const timer = setTimeout(() => {
      running.delete(timer);
      callback(...args);
    }, ms);
    running.add(timer);
    return timer;
  };
  globalThis.setTimeout = Object.assign(counting, setTimeout) as unknown as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    running.delete(timer);
    clearTimeout(timer);
  };
  return () => running.size;
}
