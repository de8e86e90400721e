import { expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type FlagDefinitions, type FlagdEvaluator, flagsSchema } from '../../../src/openfeature/index.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { VarEvaluator } from '../../support/open-feature.ts';
import { rejectionOf } from '../../support/settle.ts';

const issuesOf = async (definitions: unknown, options = {}): Promise<string[]> => {
  const { issues = [] } = await flagsSchema(options)['~standard'].validate(definitions);
  return issues.map(({ message }) => message);
};

const flag = (others: object): object => ({
  state: 'ENABLED',
  variants: { on: true, off: false },
  ...others,
});

it.each([
  [null, 'the definitions must be an object, not null'],
  [[], 'the definitions must be an object, not []'],
  [new Map([['on', true]]), 'the definitions must be an object, not'],
  [
    { on: undefined },
    'flag "on": must be a boolean, a string, a finite number, an object or an array, not undefined',
  ],
  [{ on: NaN }, 'flag "on": must be a boolean, a string, a finite number, an object or an array, not NaN'],
  [{ on: new Date(0) }, 'flag "on": must be a boolean'],
  [{ on: () => true }, 'flag "on": must be a boolean'],
  [{ flags: null }, 'flag "flags": must be a boolean'],
  [
    { flags: { on: flag({ variants: { true: true }, defaultVariant: true }) } },
    'defaultVariant true is not one of the variants',
  ],
  [{ flags: [] }, 'flags must be an object'],
  [{ flags: { on: true } }, 'flag "on": must be an object, not true'],
  [{ flags: { on: {} } }, `flag "on": state must be 'ENABLED' or 'DISABLED', not undefined`],
  [
    { flags: { on: flag({ state: 'enabled' }) } },
    `flag "on": state must be 'ENABLED' or 'DISABLED', not "enabled"`,
  ],
  [{ flags: { on: flag({ variants: [true] }) } }, 'flag "on": variants must be an object'],
  [{ flags: { on: flag({ variants: { on: null } }) } }, 'flag "on": variant "on" must be a boolean'],
  [
    { flags: { on: flag({ variants: { on: true, more: false, off: 'no' } }) } },
    'flag "on": all variants must have one type, not boolean and string',
  ],
  [
    { flags: { on: flag({ defaultVariant: 'of' }) } },
    'flag "on": defaultVariant "of" is not one of the variants',
  ],
  [
    { flags: { on: flag({ defaultVariant: 'toString' }) } },
    'defaultVariant "toString" is not one of the variants',
  ],
  [
    { flags: { on: flag({ defaultVariant: true }) } },
    'flag "on": defaultVariant true is not one of the variants',
  ],
  [
    { flags: { on: flag({ defaultVariant: '' }) } },
    'flag "on": defaultVariant "" is not one of the variants',
  ],
  [{ flags: { on: flag({ targeting: 'on' }) } }, 'flag "on": targeting must be an object'],
  [
    { flags: { on: flag({ metadata: { a: {} } }) } },
    'flag "on": metadata must be an object of strings, numbers and',
  ],
  [{ flags: { on: flag({}) }, metadata: 5 }, 'flag "on": metadata must be an object of strings'],
  [
    { flags: { on: flag({ targeting: { var: 'plan' } }) } },
    'flag "on": has targeting, which is evaluated by @openfeature/flagd-core: give flagsSchema and ticklessProvider the option targeting: () => new FlagdCore()',
  ],
])('refuses %j', async (definitions, issue) => {
  expect(await issuesOf(definitions)).toEqual([expect.stringContaining(issue)]);
});

it.each([
  [{}],
  [{ on: true, limit: 0, theme: '', layout: {}, list: [] }],
  [{ flags: {} }],
  [{ flags: 'a flag of that name' }],
  [
    {
      $schema: 'https://flagd.dev/schema/v0/flags.json',
      flags: { on: flag({ defaultVariant: 'on' }) },
      $evaluators: {},
    },
  ],
  [
    {
      flags: {
        on: flag({ defaultVariant: null, targeting: {}, metadata: { a: 1 } }),
        none: flag({ variants: {} }),
      },
    },
  ],
  [{ flags: { off: flag({ state: 'DISABLED', targeting: { var: 'plan' } }) } }], // its rule is not evaluated
])('accepts %j', async (definitions) => {
  expect(await flagsSchema()['~standard'].validate(definitions)).toEqual({ value: definitions });
});

it('has rules checked by the evaluator: one that it can not read, or refuses at all', async () => {
  const targeting = (): FlagdEvaluator => new VarEvaluator();
  const ofPlan = flag({ targeting: { var: 'plan' } });
  expect(await issuesOf({ flags: { ofPlan } }, { targeting })).toEqual([]);
  expect(await issuesOf({ flags: { ofPlan, bad: flag({ targeting: { no: 1 } }) } }, { targeting })).toEqual([
    'flag "bad": no such operator',
  ]);
  expect(await issuesOf({ flags: { refused: ofPlan, plain: flag({}) } }, { targeting })).toEqual([
    'flag "refused": targeting was refused: no such flag, please',
  ]);
  const unnamed = flag({ targeting: { var: '' } });
  expect(await issuesOf({ flags: { unnamed, overlooked: ofPlan } }, { targeting })).toEqual([
    'flag "unnamed": targeting was refused',
    'flag "overlooked": targeting was refused',
  ]);
  const circular = { var: 'plan', self: {} };
  circular.self = circular;
  expect(await issuesOf({ flags: { bad: flag({ targeting: circular }) } }, { targeting })).toEqual([
    expect.stringContaining('flag "bad": targeting was refused: Converting circular'),
  ]);
});

it('as the schema of a value: bad definitions are a failed load, and can not be set', async () => {
  let definitions: FlagDefinitions = { flags: { on: flag({ defaultVariant: 'on' }) } } as FlagDefinitions;
  const { value } = fakeValue<FlagDefinitions>(() => definitions, { name: 'flags', schema: flagsSchema() });
  const good = await value.get();
  definitions = { flags: { on: flag({ defaultVariant: 'of' }), off: flag({ state: 'OFF' }) } } as never;
  expect(String(await rejectionOf(value.refresh()))).toContain(
    `flag "on": defaultVariant "of" is not one of the variants; flag "off": state must be`,
  );
  expect(() => value.set([] as never)).toThrow('the definitions must be an object');
  expect(value.current).toBe(good);
});

it('takes the type of the value', async () => {
  const load = async (): Promise<{ on: boolean }> => ({ on: true });
  const flags = new RefreshingValue({ name: 'flags', load, schema: flagsSchema() });
  const { on }: { on: boolean } = await flags.get();
  expect(on).toBe(true);
});

it('refuses options', () => {
  expect(() => flagsSchema({ target: 1 } as never)).toThrow('flagsSchema: target is unknown');
  expect(() => flagsSchema({ targeting: {} as never })).toThrow('flagsSchema: targeting must be a function');
});
