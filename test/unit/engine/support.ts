import type { LoadHandle } from '../../../src/engine/load-handle.ts';

/** A load under way that does nothing. */
export function handleOf(change: Partial<LoadHandle> = {}): LoadHandle {
  const none = (): void => {};
  return {
    outdatedBy: undefined,
    reloadAfter: undefined,
    hasStarted: true,
    startedAt: 0,
    waitedFor: undefined,
    start: none,
    ref: none,
    unref: none,
    deadlineAt: Infinity,
    end: none,
    cancel: none,
    abortAndDrain: none,
    ...change,
  };
}

/** Counts the `abort` listeners of a signal. */
export function countListeners(signal: AbortSignal): () => number {
  let count = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    count += args[0] === 'abort' ? 1 : 0;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    count -= args[0] === 'abort' ? 1 : 0;
    removeEventListener.apply(signal, args);
  };
  return () => count;
}
