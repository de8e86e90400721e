import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { flagsSchema, ticklessProvider } from '../../../src/openfeature/index.ts';
import { VarEvaluator } from '../../support/open-feature.ts';

const name = fc.constantFrom('on', 'off', '__proto__', 'toString', 'flags', 'state', '');
const anything = fc.anything({
  key: name,
  maxDepth: 2,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
});
const value = fc.oneof(fc.boolean(), fc.string(), fc.double(), fc.constant({}), anything);

const soundFlag = fc.record({
  state: fc.constantFrom('ENABLED', 'DISABLED'),
  variants: fc.oneof(
    fc.record({ on: fc.boolean(), off: fc.boolean() }),
    fc.record({ on: fc.string(), off: fc.string() }),
    fc.record({ on: fc.integer(), off: fc.integer() }),
  ),
  defaultVariant: fc.constantFrom('on', 'off', null, undefined),
  targeting: fc.oneof(fc.constant({}), fc.record({ var: name })),
});
const mostlyFaulty = fc.record(
  {
    state: fc.oneof(fc.constant('ENABLED'), anything),
    variants: fc.oneof(fc.dictionary(name, fc.boolean()), fc.dictionary(name, value), anything),
    defaultVariant: fc.oneof(name, anything),
    targeting: anything,
    metadata: fc.oneof(fc.dictionary(name, fc.string()), anything),
  },
  { requiredKeys: ['state', 'variants'] },
);
const flagd = fc.record({
  flags: fc.oneof(
    fc.dictionary(name, soundFlag),
    fc.dictionary(name, fc.oneof(soundFlag, mostlyFaulty, anything)),
  ),
});
const definitions = fc.oneof(flagd, fc.dictionary(name, value), anything);

it('any definitions: what the schema accepts has no PARSE_ERROR, and each evaluation has a value of the type asked for', async () => {
  const targeting = (): VarEvaluator => new VarEvaluator();
  await fc.assert(
    fc.asyncProperty(definitions, name, async (given, asked) => {
      const { issues } = await flagsSchema({ targeting })['~standard'].validate(given);
      const flags = new RefreshingValue({
        name: 'flags',
        load: () => given ?? null,
        logger: false,
      });
      const provider = ticklessProvider({ flags, targeting });
      const found = await Promise.all([
        provider.resolveBooleanEvaluation(asked, true, {}, console),
        provider.resolveStringEvaluation(asked, 'default', {}, console),
        provider.resolveNumberEvaluation(asked, 1, {}, console),
        provider.resolveObjectEvaluation(asked, {}, {}, console),
      ]);
      expect(found.map((details) => typeof details.value)).toEqual(['boolean', 'string', 'number', 'object']);
      const ofOneType = found.filter(({ reason, variant }) => reason === 'STATIC' && variant !== undefined);
      expect(ofOneType.length).toBeLessThanOrEqual(1);
      const isFaulty = found.some(({ errorCode }) => errorCode === 'PARSE_ERROR');
      if (issues === undefined) expect(isFaulty).toBe(false);
      if (isFaulty) expect(issues).not.toHaveLength(0);
    }),
  );
});
