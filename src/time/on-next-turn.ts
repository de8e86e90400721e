type SetImmediate = (callback: () => void) => unknown;

interface Global {
  readonly setImmediate?: SetImmediate;
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: { once?(event: 'beforeExit', listener: () => void): unknown };
}

const here: Global = globalThis as Global;

/** workerd drops pending callbacks when a request ends. */
const keepsCallbacks = here.navigator?.userAgent !== 'Cloudflare-Workers';
const machineSetImmediate: SetImmediate | undefined = keepsCallbacks ? here.setImmediate : undefined;

let listensForExit = false;
/** The event loop has run empty; a further immediate would revive it. */
let isExiting = false;

/**
 * Calls `callback` on the next turn of the event loop: after all microtasks of the present turn, and before the process
 * waits for I/O.
 *
 * @returns `false` when that is not possible, and `callback` is never called: there is no `setImmediate`, a test kit
 * has replaced it, or the process is about to exit.
 */
export function onNextTurn(callback: () => void): boolean {
  if (machineSetImmediate === undefined || here.setImmediate !== machineSetImmediate || isExiting)
    return false;
  if (!listensForExit) {
    listensForExit = true;
    here.process?.once?.('beforeExit', () => {
      isExiting = true;
    });
  }
  machineSetImmediate(callback);
  return true;
}
