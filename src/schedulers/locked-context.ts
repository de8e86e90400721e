import { OnStack } from '../callable/on-stack.ts';
import type { LockedContext } from '../cluster/locked-task.ts';

/** The context of the locked method or job on the stack. Those that run at the same time are never on the stack together. */
export const taskOnStack: OnStack<LockedContext> = /* @__PURE__ */ new OnStack();

/**
 * The context of the `@locked` method, or of the job of a `lockedScheduler`, that calls it: `signal` and `token`. It works until the
 * first `await` there.
 *
 * @throws {TypeError} anywhere else.
 */
export function lockedContext(): LockedContext {
  const { context } = taskOnStack;
  if (context !== undefined) return context;
  throw new TypeError(
    'lockedContext() was called outside of a @locked method or a job of a lockedScheduler, or after its first await: read the context on its first line',
  );
}
