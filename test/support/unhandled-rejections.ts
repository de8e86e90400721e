import { onTestFinished } from 'vitest';

/** The reasons of all unhandled rejections from now until the test has ended. */
export function unhandledRejections(): unknown[] {
  const reasons: unknown[] = [];
  const note = (reason: unknown): void => void reasons.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  return reasons;
}
