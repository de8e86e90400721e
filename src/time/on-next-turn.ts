type SetImmediate = (callback: () => void) => unknown;

interface Global {
  readonly setImmediate?: SetImmediate;
  readonly navigator?: { readonly userAgent?: string };
  readonly process?: { once?(event: 'beforeExit', listener: () => void): unknown };
}

const here: Global = globalThis as Global;

/** workerd drops what is still to be called when a request ends. */
const isKept = here.navigator?.userAgent !== 'Cloudflare-Workers';
const machineSetImmediate: SetImmediate | undefined = isKept ? here.setImmediate : undefined;

let isHeard = false;
/** The event loop has run empty: it is not to be revived for this. */
let isLeaving = false;

/**
 * Has something called once the event loop has gone on: after all microtasks of the present turn, and before the process
 * waits for anything.
 *
 * @returns `false`: that can't be had here, or not now, and nothing will be called. There is no `setImmediate`, or a test
 * kit has replaced it; or the process is about to end.
 */
export function onNextTurn(callback: () => void): boolean {
  if (machineSetImmediate === undefined || here.setImmediate !== machineSetImmediate || isLeaving)
    return false;
  if (!isHeard) {
    isHeard = true;
    here.process?.once?.('beforeExit', () => {
      isLeaving = true;
    });
  }
  machineSetImmediate(callback);
  return true;
}
