import { checksum } from '../../../../src/cluster/checksum.ts';
import type { Dialect } from '../network.ts';

/** The first line of a snapshot, or a report. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * What instances of other versions write, as the formats allow it: an older one leaves out the fields that came later, and a
 * newer one adds fields that this version does not know.
 */
export const dialects: Readonly<Record<'older' | 'newer', Dialect>> = {
  older: {
    snapshot: (text) => edited(text, ({ publisher: _, kind: _kind, name: _name, ...header }) => header),
    report: (text) =>
      reported(text, ({ leftOut: _, members, ...report }) => ({
        ...report,
        members: members.map(({ name, version, age }) => ({ name, version, age })),
      })),
  },
  newer: {
    snapshot: (text) =>
      edited(text, ({ tickless, ...header }) => ({ tickless, further: { of: [null] }, ...header, last: 0 })),
    report: (text) =>
      reported(text, ({ members, ...report }) => ({
        ...report,
        further: { of: [null] },
        members: members.map((member) => ({ further: 1, ...member, last: {} })),
      })),
  },
};

/** A snapshot with another header, and its checksum. */
function edited(text: string, edit: (header: Fields) => Fields): string {
  const end = text.indexOf('\n');
  const { sum: _, ...header } = JSON.parse(text.slice(0, end)) as Fields;
  const line = JSON.stringify(edit(header)).slice(0, -1);
  const body = text.slice(end + 1);
  return `${line},"sum":"${checksum(`${line}\n${body}`)}"}\n${body}`;
}

function reported(
  text: string,
  edit: (report: Fields & { readonly members: readonly Fields[] }) => Fields,
): string {
  if (!text.startsWith('{')) return text; // it is taken back
  return JSON.stringify(edit(JSON.parse(text)));
}
