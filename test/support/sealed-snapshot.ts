import { checksum } from '../../src/cluster/checksum.ts';

/**
 * A snapshot as it lies in a store, with a right length and checksum, whatever else it says: for tests of what comes
 * behind those.
 *
 * @param change fields of the envelope in the place of the sound ones; `undefined` leaves one out.
 */
export function sealed(change: object, body: string): string {
  const sound = { tickless: 1, format: 'json', dueIn: 1000, took: 1, length: body.length };
  return sealedLine(JSON.stringify({ ...sound, ...change }), body);
}

/** The same, of a line that is written by hand. */
export function sealedLine(line: string, body: string): string {
  const summed = line.slice(0, -1);
  return `${summed},"sum":"${checksum(`${summed}\n${body}`)}"}\n${body}`;
}
