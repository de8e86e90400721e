import { describe, expect, it } from 'vitest';
import { References } from '../../../src/openfeature/references.ts';

const ref = (name: string): object => ({ $ref: name });

/** `e0` has two references to `e1`, which has two to `e2`, … */
function doubling(levels: number): Record<string, object> {
  const parts: Record<string, object> = { [`e${levels}`]: { '==': [1, 1] } };
  for (let i = 0; i < levels; i++) parts[`e${i}`] = { or: [ref(`e${i + 1}`), ref(`e${i + 1}`)] };
  return parts;
}

describe('references in rules', () => {
  it('are replaced by the parts of these names, also within these', () => {
    const references = new References({
      isStaff: { in: ['@shop', ref('mail')] },
      mail: { var: 'mail' },
      name: 'on',
    });
    const rule = { if: [ref('isStaff'), ref('name'), { and: [ref('isStaff'), ref('mail')] }] };
    const isStaff = { in: ['@shop', { var: 'mail' }] };
    expect(references.replacedIn(rule)).toEqual({ if: [isStaff, 'on', { and: [isStaff, { var: 'mail' }] }] });
    expect(references.replacedIn(ref('isStaff'))).toEqual(isStaff);
  });

  it.each([
    [ref('unknown')],
    [ref('toString')],
    [{ $ref: 'a', more: 1 }],
    [{ $ref: { var: 'x' } }],
    [[]],
    [{}],
    [null],
    ['a'],
    [JSON.parse('{"__proto__":["a"]}')],
  ])('%j stays as it is', (rule) => {
    expect(JSON.stringify(new References({ a: 1 }).replacedIn(rule))).toBe(JSON.stringify(rule));
    expect(new References('no parts').replacedIn(rule)).toEqual(rule);
  });

  it.each([15, 16, 40, 1000])('that double %i times are refused', (levels) => {
    const references = new References(doubling(levels));
    expect(() => references.replacedIn(ref('e0'))).toThrow(
      'what $ref refers to has more than 100000 objects and arrays',
    );
  });

  it('are bounded over all flags together', () => {
    const references = new References(doubling(12)); // 16,382 objects and arrays
    expect(() => Array.from({ length: 6 }, () => references.replacedIn(ref('e0')))).not.toThrow();
    expect(() => references.replacedIn(ref('e0'))).toThrow('more than 100000');
  });

  it('a rule without references may have any size', () => {
    const rule = { or: Array.from({ length: 200_000 }, () => ({ '==': [1, 1] })) };
    expect(new References(doubling(12)).replacedIn(rule)).toEqual(rule);
  });

  it.each([[{ a: ref('a') }], [{ a: { '!': [ref('b')] }, b: { and: [1, ref('a')] } }]])(
    'in a circle are refused: %j',
    (parts) => {
      expect(() => new References(parts).replacedIn({ if: [ref('a')] })).toThrow('contains itself');
    },
  );
});
