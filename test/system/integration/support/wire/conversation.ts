/** What a client asks for and gets an answer to. */
export interface Request {
  /** For people and patterns; bytes that are no text as of latin1. */
  readonly text: string;
  /** How many commands it is, see `FaultProxy.commands`. 0: it belongs to the protocol. */
  readonly commands: number;
}

/**
 * One connection, as far as its protocol is understood here: plain, not compressed. The answers come in the order of the
 * requests.
 */
export interface Conversation {
  /** What a client has sent next. @returns the requests that are complete with it. */
  fromClient(bytes: Buffer): Request[];
  /** What the server has sent next. @returns behind which of these bytes answers end. */
  fromServer(bytes: Buffer): number[];
}

/**
 * Cuts a stream into its units.
 *
 * @param endOf where the unit that begins at the offset ends; `undefined`: it is not complete
 * @returns takes the next bytes, and gives the units that are complete with them; `end`: behind which of these bytes.
 */
export function cutter(
  endOf: (bytes: Buffer, offset: number) => number | undefined,
): (bytes: Buffer) => { readonly unit: Buffer; readonly end: number }[] {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const before = rest.length;
    const all = before === 0 ? bytes : Buffer.concat([rest, bytes]);
    const units: { unit: Buffer; end: number }[] = [];
    let begin = 0;
    while (begin < all.length) {
      const end = endOf(all, begin);
      if (end === undefined || end > all.length) break;
      units.push({ unit: all.subarray(begin, end), end: end - before });
      begin = end;
    }
    rest = all.subarray(begin);
    return units;
  };
}
