import fc from 'fast-check';

/** Values of the kinds that the structured clone and devalue keep, without objects that occur twice. */
export const plain: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.integer(),
      fc.string(),
      fc.constantFrom(undefined, null, true, Number.NaN, -0, 5n),
      fc.date({ noInvalidDate: true }),
      fc.uint8Array({ maxLength: 5 }),
    ),
    fc.array(tie('value'), { maxLength: 12 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '5', '')), tie('value')),
    fc.array(fc.tuple(tie('value'), tie('value'))).map((entries) => new Map(entries)),
    fc.array(tie('value')).map((values) => new Set(values)),
  ),
})).value;

const end = fc.nat({ max: 14 });
const links = fc.array(fc.tuple(end, end, fc.boolean()), { maxLength: 40 });
const kinds = fc.array(fc.constantFrom('array', 'object', 'map', 'set', 'date', 'bytes'), {
  minLength: 1,
  maxLength: 15,
});

/** Objects that refer to one another, in rings too. */
export const graph: fc.Arbitrary<unknown[]> = fc.tuple(kinds, links).map(([kinds, links]) => {
  const nodes = kinds.map(made);
  for (const [from, to, isKey] of links) link(nodes[from], nodes[to], isKey && from > 12);
  return nodes;
});

function made(kind: string): unknown {
  if (kind === 'array') return [];
  if (kind === 'map') return new Map();
  if (kind === 'set') return new Set();
  if (kind === 'date') return new Date(5);
  return kind === 'bytes' ? new Uint8Array(3) : {};
}

/** Makes one object refer to another. */
function link(from: unknown, to: unknown, isKey: boolean): void {
  if (to === undefined) return;
  if (Array.isArray(from)) from.push(to);
  else if (from instanceof Map) isKey ? from.set(to, from.size) : from.set(from.size, to);
  else if (from instanceof Set) from.add(isKey ? to : from.size);
  else if (Object.getPrototypeOf(from ?? 0) === Object.prototype) {
    Object.assign(from as object, { [`to ${Object.keys(from as object).length}`]: to });
  }
}

/** Classes, keys and elements in their order, and which objects are the same, in arrays that can be compared. */
export function shapeOf(value: unknown, seen: Map<unknown, number> = new Map()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const number = seen.get(value);
  if (number !== undefined) return ['again', number];
  seen.set(value, seen.size);
  const kind = Object.getPrototypeOf(value)?.constructor.name ?? 'Object'; // without a prototype: as one with it
  const shape = (one: unknown): unknown => shapeOf(one, seen);
  if (value instanceof Date) return [kind, value.getTime()];
  if (value instanceof Map) return [kind, [...value].map((entry) => entry.map(shape))];
  if (value instanceof Set) return [kind, [...value].map(shape)];
  return [kind, Object.entries(value).map(([key, one]) => [key, shape(one)])];
}
