import {
  type Client,
  InMemoryProvider,
  MultiProvider,
  OpenFeature,
  type Provider,
} from '@openfeature/server-sdk';
import { expect, it } from 'vitest';
import { derive, RefreshingValue, refreshing } from '../../../src/index.ts';
import { type FlagDefinitions, ticklessProvider } from '../../../src/openfeature/index.ts';
import { detailsOf, registered, VarEvaluator } from '../../support/open-feature.ts';

const valueWith = (flags: unknown): RefreshingValue<unknown> =>
  new RefreshingValue({ name: 'flags', load: () => flags, logger: false });

const clientOf = async (flags: FlagDefinitions): Promise<Client> =>
  (await registered(ticklessProvider({ flags: valueWith(flags) }))).client;

const of = (variants: Record<string, unknown>, others: object = {}): object => ({
  state: 'ENABLED',
  variants,
  defaultVariant: Object.keys(variants)[0],
  ...others,
});

/** The cases of the specification's own suite for providers, without rules. */
const FLAGD = {
  metadata: { set: 'all', version: 1 },
  flags: {
    boolean: of({ on: true, off: false }),
    'boolean-zero': of({ zero: false, one: true }),
    string: of({ greeting: 'hi', parting: 'bye' }),
    'string-zero': of({ zero: '', one: 'str' }),
    integer: of({ ten: 10, one: 1 }),
    float: of({ half: 0.5, tenth: 0.1 }),
    'number-zero': of({ zero: 0, one: 1 }),
    object: of({ template: { title: 'pictures', each: 100 }, empty: {} }),
    'object-zero': of({ zero: {}, one: { a: 1 } }),
    list: of({ all: [1, 2], none: [] }),
    disabled: of({ on: true }, { state: 'DISABLED' }),
    'null-default': of({ on: true }, { defaultVariant: null }),
    'no-default': { state: 'ENABLED', variants: { on: true } },
    'no-rules': of({ on: true }, { targeting: {} }),
    described: of({ on: true }, { metadata: { version: 2, owner: 'shop', ratio: 0.1, beta: true } }),
  },
} as FlagDefinitions;

it.each([
  ['boolean', false, true, 'on'],
  ['boolean-zero', true, false, 'zero'],
  ['string', 'bye', 'hi', 'greeting'],
  ['string-zero', 'hi', '', 'zero'],
  ['integer', 1, 10, 'ten'],
  ['float', 0.1, 0.5, 'half'],
  ['number-zero', 1, 0, 'zero'],
  ['object', {}, { title: 'pictures', each: 100 }, 'template'],
  ['object-zero', { a: 1 }, {}, 'zero'],
  ['list', [], [1, 2], 'all'],
  ['no-rules', false, true, 'on'],
] as const)("flagd's format: %s", async (flagKey, defaultValue, value, variant) => {
  const client = await clientOf(FLAGD);
  expect(await detailsOf(client, flagKey, defaultValue as never)).toEqual({
    flagKey,
    value,
    variant,
    reason: 'STATIC',
    flagMetadata: { set: 'all', version: 1 },
  });
});

it.each([
  ['disabled', 'DISABLED'],
  ['null-default', 'DEFAULT'],
  ['no-default', 'DEFAULT'],
])('the default of the caller: %s', async (flagKey, reason) => {
  const client = await clientOf(FLAGD);
  for (const value of [true, false, 'some', 5, {}]) {
    expect(await detailsOf(client, flagKey, value)).toEqual({
      flagKey,
      value,
      reason,
      flagMetadata: { set: 'all', version: 1 },
    });
  }
});

it('has the metadata of the flag over that of all, and leaves the definitions unfrozen', async () => {
  const client = await clientOf(FLAGD);
  const { flagMetadata } = await client.getBooleanDetails('described', false);
  expect(flagMetadata).toEqual({ set: 'all', version: 2, owner: 'shop', ratio: 0.1, beta: true });
  const { metadata } = FLAGD as { metadata: object };
  expect([Object.isFrozen(flagMetadata), Object.isFrozen(metadata)]).toEqual([true, false]);
});

it.each([
  ['boolean', 'fallback'],
  ['boolean', 1],
  ['boolean', {}],
  ['string', false],
  ['string', 1],
  ['string', {}],
  ['integer', false],
  ['integer', 'fallback'],
  ['float', {}],
  ['object', 0.1],
  ['object', 'fallback'],
])('%s asked for as %j is a mismatch', async (flagKey, value) => {
  const client = await clientOf(FLAGD);
  expect(await detailsOf(client, flagKey, value)).toMatchObject({
    value,
    reason: 'ERROR',
    errorCode: 'TYPE_MISMATCH',
    errorMessage: expect.stringContaining(`flag '${flagKey}' is a`),
    flagMetadata: { set: 'all' },
  });
});

it('plain flags are their values', async () => {
  const plain = { on: true, limit: 5, theme: 'dark', layout: { columns: 2 }, tags: ['a'], flags: 'none' };
  const client = await clientOf(plain);
  for (const [flagKey, value] of Object.entries(plain)) {
    const ofType = { boolean: false, number: 1, string: '', object: {} }[typeof value as 'object'];
    expect(await detailsOf(client, flagKey, ofType)).toEqual({
      flagKey,
      value,
      reason: 'STATIC',
      flagMetadata: {},
    });
  }
  expect(await client.getStringDetails('limit', 'x')).toMatchObject({ errorCode: 'TYPE_MISMATCH' });
});

it.each(['missing', 'toString', '__proto__', 'constructor'])('no such flag: %s', async (flagKey) => {
  for (const flags of [FLAGD, { on: true }]) {
    const client = await clientOf(flags);
    for (const value of [true, 'bye', 1, 0.1, { a: 1 }]) {
      expect(await detailsOf(client, flagKey, value)).toEqual({
        flagKey,
        value,
        reason: 'ERROR',
        errorCode: 'FLAG_NOT_FOUND',
        errorMessage: `flag '${flagKey}' not found`,
        flagMetadata: {},
      });
    }
  }
});

it('evaluates rules with the merged context, and all other flags without the evaluator', async () => {
  const variants = { dark: 'black', light: 'white' };
  const flags = valueWith({
    flags: {
      byUser: of(variants, { targeting: { var: 'targetingKey' } }),
      byTheme: of(variants, { targeting: { var: 'theme' } }),
      fixed: of(variants),
      off: of(variants, { state: 'DISABLED', targeting: { var: 'theme' } }),
    },
  });
  let made = 0;
  const targeting = (): VarEvaluator => {
    made += 1;
    return new VarEvaluator();
  };
  const { client } = await registered(ticklessProvider({ flags, targeting }));
  client.setContext({ targetingKey: 'light' });
  expect(await client.getStringDetails('byUser', '')).toMatchObject({
    value: 'white',
    variant: 'light',
    reason: 'TARGETING_MATCH',
  });
  expect(await client.getStringDetails('byTheme', '')).toMatchObject({ value: 'black', reason: 'DEFAULT' });
  expect(await client.getStringValue('byTheme', '', { theme: 'light' })).toBe('white');
  expect(await client.getBooleanDetails('byTheme', true)).toMatchObject({ errorCode: 'TYPE_MISMATCH' });
  expect(await client.getStringDetails('fixed', '')).toMatchObject({ value: 'black', reason: 'STATIC' });
  expect(await client.getStringDetails('off', 'x')).toMatchObject({ value: 'x', reason: 'DISABLED' });
  const failing = await client.getStringDetails('byTheme', 'x', { theme: 'none' });
  expect(failing).toMatchObject({ value: 'x', reason: 'ERROR', errorCode: 'GENERAL', errorMessage: '' });
  expect(made).toBe(2); // for the check of the option, and for the one edition
});

it('makes no evaluator where there are no rules', async () => {
  let made = 0;
  const targeting = (): VarEvaluator => {
    made += 1;
    return new VarEvaluator();
  };
  const flags = {
    on: of({ on: true }),
    off: of({ on: true }, { state: 'DISABLED', targeting: { var: 'a' } }),
  };
  await registered(ticklessProvider({ flags: valueWith({ flags }), targeting }));
  expect(made).toBe(1); // for the check of the option
});

it('rules without an evaluator are an error, not the default variant', async () => {
  const flags = { byUser: of({ on: true }, { targeting: { var: 'targetingKey' } }) };
  const { client, events } = await registered(ticklessProvider({ flags: valueWith({ flags }) }));
  expect(await client.getBooleanDetails('byUser', false)).toMatchObject({
    value: false,
    errorCode: 'PARSE_ERROR',
    errorMessage: expect.stringContaining('targeting: () => new FlagdCore()'),
  });
  expect(events).toEqual([['PROVIDER_ERROR', expect.stringContaining('flag "byUser": has targeting')]]);
});

it('a rule that throws fails its own evaluations only', async () => {
  const throwing = (name: string) => ({
    evaluate: ({ targetingKey = '' }) => {
      if (name === 'bad') throw new Error(`no rule for ${targetingKey}`);
      return { value: true, variant: 'on', reason: 'TARGETING_MATCH' };
    },
  });
  const targeting = () => ({ setConfigurations: () => {}, getFlag: throwing });
  const rule = of({ on: true }, { targeting: { var: 'targetingKey' } });
  const flags = valueWith({ flags: { bad: rule, good: rule } });
  const { client } = await registered(ticklessProvider({ flags, targeting }));
  expect(await client.getBooleanDetails('good', false)).toMatchObject({ value: true });
  expect(await client.getBooleanDetails('bad', false, { targetingKey: 'ann' })).toMatchObject({
    value: false,
    errorCode: 'GENERAL',
    errorMessage: 'no rule for ann',
  });
});

it('a flag whose name every object has is one', async () => {
  const client = await clientOf(JSON.parse('{ "__proto__": true, "toString": "yes" }'));
  expect(await client.getBooleanValue('__proto__', false)).toBe(true);
  expect(await client.getStringValue('toString', 'no')).toBe('yes');
});

it('a faulty flag gives the default and says why; the others work', async () => {
  const flags = { good: of({ on: true }), bad: of({ on: true }, { defaultVariant: 'off' }) };
  const { client, events } = await registered(ticklessProvider({ flags: valueWith({ flags }) }));
  expect(await client.getBooleanDetails('bad', true)).toMatchObject({
    value: true,
    reason: 'ERROR',
    errorCode: 'PARSE_ERROR',
    errorMessage: 'defaultVariant "off" is not one of the variants',
  });
  expect(await client.getBooleanDetails('good', false)).toMatchObject({ value: true, reason: 'STATIC' });
  const problem = 'flag "bad": defaultVariant "off" is not one of the variants';
  expect([client.providerStatus, events]).toEqual(['ERROR', [['PROVIDER_ERROR', problem]]]);
});

it('hooks of the API, the client and the call run around an evaluation, and may add to its context', async () => {
  const { client } = await registered(ticklessProvider({ flags: valueWith({ on: true }) }));
  const ran: string[] = [];
  const hook = (name: string): object => ({
    before: () => void ran.push(`before ${name}`),
    after: (_: unknown, { value }: { value: unknown }) => void ran.push(`after ${name}: ${value}`),
    error: (_: unknown, { code }: { code: string }) => void ran.push(`error ${name}: ${code}`),
    finally: (_: unknown, { reason }: { reason: string }) => void ran.push(`finally ${name}: ${reason}`),
  });
  OpenFeature.addHooks(hook('api'));
  client.addHooks(hook('client'));
  await client.getBooleanValue('on', false, {}, { hooks: [hook('call')] });
  const after = ['call', 'client', 'api'].map((name) => `after ${name}: true`);
  const last = ['call', 'client', 'api'].map((name) => `finally ${name}: STATIC`);
  expect(ran).toEqual(['before api', 'before client', 'before call', ...after, ...last]);
  ran.length = 0;
  await client.getBooleanValue('off', false);
  expect(ran.slice(2)).toEqual([
    'error client: FLAG_NOT_FOUND',
    'error api: FLAG_NOT_FOUND',
    'finally client: ERROR',
    'finally api: ERROR',
  ]);
  OpenFeature.clearHooks();
});

it('each domain has its own provider; one provider may serve several', async () => {
  const one = await clientOf({ which: 'one' });
  const { client: two, domain } = await registered(ticklessProvider({ flags: valueWith({ which: 'two' }) }));
  await OpenFeature.setProviderAndWait(`${domain} too`, OpenFeature.getProvider(domain) as Provider);
  const too = OpenFeature.getClient(`${domain} too`);
  for (const [client, which] of [[one, 'one'] as const, [two, 'two'] as const, [too, 'two'] as const])
    expect(await client.getStringValue('which', 'none')).toBe(which);
  expect(OpenFeature.getProviderMetadata(domain)).toEqual({ name: 'tickless' });
});

it('is one of several providers: the next one has what it does not know', async () => {
  const next = new InMemoryProvider({
    other: { variants: { on: 5 }, defaultVariant: 'on', disabled: false },
  });
  const flags = valueWith({ on: true });
  const providers = [{ provider: ticklessProvider({ flags }) }, { provider: next }];
  const { client, events } = await registered(new MultiProvider(providers));
  expect(await client.getBooleanDetails('on', false)).toMatchObject({ value: true, reason: 'STATIC' });
  expect(await client.getNumberValue('other', 1)).toBe(5);
  flags.set({ on: false });
  expect(events.at(-1)).toEqual(['PROVIDER_CONFIGURATION_CHANGED', ['on']]);
});

it('a value without events: its failing reads and their end are noticed by evaluations', async () => {
  let current: unknown;
  const flags = {
    get: async () => current,
    get current() {
      if (current instanceof Error) throw current;
      return current;
    },
  };
  const provider = ticklessProvider({ flags });
  expect(provider.runsOn).toBe('server');
  const { client, events } = await registered(provider);
  const problem = 'the definitions must be an object, not undefined';
  expect(events).toEqual([['PROVIDER_ERROR', problem]]);
  current = { on: true };
  expect(await client.getBooleanValue('on', false)).toBe(true);
  const changed = ['PROVIDER_CONFIGURATION_CHANGED', ['on']];
  expect(events.splice(0).slice(1)).toEqual(['PROVIDER_READY', changed]);
  current = new Error('gone');
  expect(await client.getBooleanDetails('on', false)).toMatchObject({ value: false, errorMessage: 'gone' });
  current = { on: true };
  expect(await client.getBooleanValue('on', false)).toBe(true);
  expect(events.slice(0, 2)).toEqual([['PROVIDER_ERROR', 'gone'], 'PROVIDER_READY']);
  await provider.onClose?.();
});

it('evaluates a derived value, and a function made by refreshing', async () => {
  const base = valueWith({ on: false, limit: 1 }) as RefreshingValue<object>;
  const own = valueWith({ on: true }) as RefreshingValue<object>;
  const flags = derive([base, own], (all: object, some: object) => ({ ...all, ...some }));
  const { client, events } = await registered(ticklessProvider({ flags }));
  expect(await client.getBooleanValue('on', false)).toBe(true);
  own.set({ on: false });
  expect(events).toEqual(['PROVIDER_READY']); // nothing has noticed it
  expect(await client.getBooleanValue('on', true)).toBe(false);
  expect(events).toEqual(['PROVIDER_READY', ['PROVIDER_CONFIGURATION_CHANGED', ['on']]]);

  const load = refreshing(() => ({ on: true }), { name: 'flags' });
  const other = await registered(ticklessProvider({ flags: load }));
  expect(await other.client.getBooleanValue('on', false)).toBe(true);
});

it.each([
  [{ flags: undefined }, 'ticklessProvider: flags must be a value with get() and current'],
  [{ flags: { on: true } }, 'flags must be a value with get() and current'],
  [
    { flags: valueWith({}), targetting: () => ({}) },
    'ticklessProvider: targetting is unknown (did you mean targeting?)',
  ],
  [{ flags: valueWith({}), targeting: 5 }, 'targeting must be a function that returns a FlagdCore'],
  [{ flags: valueWith({}), targeting: class FlagdCore {} }, 'targeting must be a function that returns'],
  [{ flags: valueWith({}), targeting: () => ({}) }, 'targeting must be a function that returns'],
  [
    { flags: valueWith({}), targeting: () => ({ getFlag() {} }) },
    'targeting must be a function that returns',
  ],
  [{ flags: valueWith({}), targeting: () => ({ setConfigurations() {} }) }, 'targeting must be a function'],
])('refuses options %#', (options, message) => {
  expect(() => ticklessProvider(options as never)).toThrow(message);
});
