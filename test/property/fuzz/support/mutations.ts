import fc, { type Arbitrary } from 'fast-check';

/** Damages a text; `other` is another one of the same kind. */
export type Mutation = (text: string, other: string) => string;

/** A place in a text of any length. */
const place: Arbitrary<number> = fc.double({ min: 0, max: 1, noNaN: true });

const at = (text: string, part: number): number =>
  Math.min(text.length, Math.floor(part * (text.length + 1)));

function between(text: string, one: number, two: number): [number, number] {
  const [from, to] = [at(text, one), at(text, two)];
  return from < to ? [from, to] : [to, from];
}

/** Of one to a few bytes, as an accident leaves them. */
const debris: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
  fc.constantFrom(
    '\0',
    '\ufeff',
    '\ud800',
    '\n',
    '\r\n',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '-',
    '0',
    '9',
    'e9',
  ),
);

const single: Arbitrary<Mutation> = fc.oneof(
  place.map((part) => (text: string) => text.slice(0, at(text, part))),
  place.map((part) => (text: string) => text.slice(at(text, part))),
  fc.tuple(place, debris).map(([part, more]) => (text: string) => {
    const where = at(text, part);
    return text.slice(0, where) + more + text.slice(where);
  }),
  fc.tuple(place, debris).map(([part, other]) => (text: string) => {
    const where = at(text, part);
    return text.slice(0, where) + other + text.slice(where + other.length);
  }),
  fc.tuple(place, place).map(([one, two]) => (text: string) => {
    const [from, to] = between(text, one, two);
    return text.slice(0, from) + text.slice(to);
  }),
  fc.tuple(place, place).map(([one, two]) => (text: string) => {
    const [from, to] = between(text, one, two);
    return text.slice(0, to) + text.slice(from);
  }),
  fc.tuple(place, fc.integer({ min: 0, max: 15 })).map(([part, bit]) => (text: string) => {
    const where = Math.min(at(text, part), text.length - 1);
    const flipped = String.fromCharCode(text.charCodeAt(where) ^ (1 << bit));
    return text === '' ? text : text.slice(0, where) + flipped + text.slice(where + 1);
  }),
  fc.tuple(place, fc.constantFrom(...'0123456789')).map(([part, digit]) => (text: string) => {
    const from = at(text, part); // a digit of a number: the rest is still JSON
    return text.slice(0, from) + text.slice(from).replace(/[0-9]/, digit);
  }),
  fc.tuple(place, place).map(([one, two]) => (text: string, other: string) => {
    return text.slice(0, at(text, one)) + other.slice(at(other, two));
  }),
  fc.constantFrom<Mutation>(
    (text, other) => `${text.split('\n')[0]}\n${other.split('\n').slice(1).join('\n')}`,
    (text) => `\ufeff${text}`,
    (text) => text.trimEnd(),
    (text) => `${text}\n`,
    (text) => text.replaceAll('\n', '\r\n'),
    (text) => text.toLowerCase(),
    (text) => text + text,
    (text) => text.normalize('NFD'),
    (text) => text.replaceAll('"', "'"),
    (text) => JSON.stringify(text),
    (text) => Buffer.from(text, 'utf8').toString('latin1'),
    (text) => Buffer.from(text, 'latin1').toString('utf8'),
  ),
);

/** One accident, or a few. */
export const mutation: Arbitrary<Mutation> = fc
  .array(single, { minLength: 1, maxLength: 3 })
  .map((all) => (text, other) => all.reduce((changed, change) => change(changed, other), text));
