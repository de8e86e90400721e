import { FlagdCore } from '@openfeature/flagd-core';
import type { EvaluationContext, FlagValue } from '@openfeature/server-sdk';
import { describe, expect, it } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';
import { type FlagDefinitions, flagsSchema, ticklessProvider } from '../../../src/openfeature/index.ts';
import { detailsOf, registered } from '../../support/open-feature.ts';

// Rules in flagd's format, evaluated by the library of flagd itself: the cases of the specification's suite of scenarios for
// evaluation (https://github.com/open-feature/spec) and of flagd's own testbed, written anew.

const logger = { error() {}, warn() {}, info() {}, debug() {} };
const targeting = (): FlagdCore => new FlagdCore(undefined, logger);

const ofNames = (names: readonly string[], rule: unknown, others: object = {}): object => ({
  state: 'ENABLED',
  variants: Object.fromEntries(names.map((name) => [name, name])),
  defaultVariant: names.at(-1),
  targeting: rule,
  ...others,
});
const zero = (nothing: FlagValue, something: FlagValue): object => ({
  state: 'ENABLED',
  variants: { zero: nothing, some: something },
  defaultVariant: 'zero',
  targeting: { if: [{ $ref: 'isBob' }, 'zero'] },
});
const version = { var: 'version' };
const quarters = ['clubs', 'diamonds', 'hearts', 'spades'].map((suit) => [suit, 25]);
const suits = ['clubs', 'diamonds', 'hearts', 'spades', 'wild'];

const FLAGS = {
  $evaluators: { isBob: { '==': [{ var: 'email' }, 'bob@shop.example'] } },
  metadata: { set: 'tests' },
  flags: {
    'boolean-zero': zero(false, true),
    'string-zero': zero('', 'text'),
    'integer-zero': zero(0, 1),
    'float-zero': zero(0.5, 1.5),
    'object-zero': zero({}, { a: 1 }),
    byKey: ofNames(['hit', 'miss'], { if: [{ '==': [{ var: 'targetingKey' }, 'ann'] }, 'hit', null] }),
    ref: ofNames(['bob', 'other', 'none'], { if: [{ $ref: 'isBob' }, 'bob', 'other'] }),
    noDefault: ofNames(['boss', 'other'], { if: [{ $ref: 'isBob' }, 'boss'] }, { defaultVariant: null }),
    noVariant: ofNames(['a', 'b'], { if: [{ $ref: 'isBob' }, 'c', 'a'] }),
    suit: ofNames(suits, {
      fractional: [{ cat: [{ var: '$flagd.flagKey' }, { var: 'user.name' }] }, ...quarters],
    }),
    // By this name: it is part of what is hashed, and the results are those of flagd's testbed.
    'fractional-flag-shorthand': ofNames(['heads', 'tails', 'edge'], {
      fractional: [['heads'], ['tails', 1]],
    }),
    affix: ofNames(['prefix', 'suffix', 'none'], {
      if: [
        { starts_with: [{ var: 'id' }, 'abc'] },
        'prefix',
        { ends_with: [{ var: 'id' }, 'xyz'] },
        'suffix',
        'none',
      ],
    }),
    order: ofNames(['equal', 'later', 'earlier', 'none'], {
      if: [
        { sem_ver: [version, '=', '2.0.0'] },
        'equal',
        { sem_ver: [version, '>', '2.0.0'] },
        'later',
        { sem_ver: [version, '<', '2.0.0'] },
        'earlier',
        'none',
      ],
    }),
    range: ofNames(['minor', 'major', 'none'], {
      if: [
        { sem_ver: [version, '~', '3.0.0'] },
        'minor',
        { sem_ver: [version, '^', '3.0.0'] },
        'major',
        'none',
      ],
    }),
    later: ofNames(['yes', 'no'], {
      if: [{ '>': [{ var: '$flagd.timestamp' }, 1_700_000_000] }, 'yes', 'no'],
    }),
    off: ofNames(['a', 'b'], { if: [true, 'a'] }, { state: 'DISABLED' }),
  },
} as unknown as FlagDefinitions;

const client = await registered(
  ticklessProvider({
    flags: new RefreshingValue({ name: 'flags', load: () => FLAGS, schema: flagsSchema({ targeting }) }),
    targeting,
  }),
).then((made) => made.client);

const bob = { email: 'bob@shop.example' };

describe('zero values', () => {
  const cases = [
    ['boolean-zero', true, false],
    ['string-zero', 'text', ''],
    ['integer-zero', 1, 0],
    ['float-zero', 1.5, 0.5],
    ['object-zero', { a: 1 }, {}],
  ] as const;
  it.each(cases)('%s by a rule, by default, and with a context of null', async (flagKey, other, value) => {
    const about = { flagKey, value, variant: 'zero', flagMetadata: { set: 'tests' } };
    expect(await detailsOf(client, flagKey, other, bob)).toEqual({ ...about, reason: 'TARGETING_MATCH' });
    for (const context of [{}, { email: 'ann@shop.example' }, { email: null }] as EvaluationContext[])
      expect(await detailsOf(client, flagKey, other, context)).toEqual({ ...about, reason: 'DEFAULT' });
  });
});

it.each<[flag: string, context: EvaluationContext, value: string, reason: string]>([
  ['byKey', { targetingKey: 'ann' }, 'hit', 'TARGETING_MATCH'],
  ['byKey', { targetingKey: 'bob' }, 'miss', 'DEFAULT'],
  ['ref', bob, 'bob', 'TARGETING_MATCH'],
  ['ref', {}, 'other', 'TARGETING_MATCH'],
  ['noDefault', bob, 'boss', 'TARGETING_MATCH'],
  ['noDefault', {}, 'by the caller', 'DEFAULT'],
  ['off', {}, 'by the caller', 'DISABLED'],
  ['noVariant', bob, 'by the caller', 'ERROR'],
  ['fractional-flag-shorthand', { targetingKey: 'jon@company.com' }, 'heads', 'TARGETING_MATCH'],
  ['fractional-flag-shorthand', { targetingKey: 'jane@company.com' }, 'tails', 'TARGETING_MATCH'],
  ['fractional-flag-shorthand', {}, 'edge', 'DEFAULT'], // no targeting key to hash
  ['affix', { id: 'abcdef' }, 'prefix', 'TARGETING_MATCH'],
  ['affix', { id: 'uvwxyz' }, 'suffix', 'TARGETING_MATCH'],
  ['affix', { id: 123 }, 'none', 'TARGETING_MATCH'],
  ['order', { version: '2.0.0' }, 'equal', 'TARGETING_MATCH'],
  ['order', { version: '2.1.0' }, 'later', 'TARGETING_MATCH'],
  ['order', { version: '2.0.0-alpha' }, 'earlier', 'TARGETING_MATCH'],
  ['order', { version: '2.0.0.0' }, 'none', 'TARGETING_MATCH'],
  ['range', { version: '3.0.1' }, 'minor', 'TARGETING_MATCH'],
  ['range', { version: '3.1.0' }, 'major', 'TARGETING_MATCH'],
  ['range', { version: '4.0.0' }, 'none', 'TARGETING_MATCH'],
  ['later', { $flagd: { timestamp: 5 } }, 'yes', 'TARGETING_MATCH'], // that of flagd wins
])('%s for %j: %s, %s', async (flag, context, value, reason) => {
  expect(await client.getStringDetails(flag, 'by the caller', context)).toMatchObject({ value, reason });
});

it('gives what the library gives by itself, for any context', async () => {
  const alone = targeting();
  alone.setConfigurations(JSON.stringify(FLAGS));
  const names = Object.keys((FLAGS as { flags: object }).flags);
  const seen = new Set<string>();
  for (let at = 0; at < 500; at++) {
    const context = {
      targetingKey: `user ${at}`,
      user: { name: `name ${at}` },
      version: `${at % 5}.${at % 3}.0`,
      ...(at % 2 === 0 ? bob : {}),
    };
    for (const name of names) {
      const own = await client.getStringDetails(name, 'by the caller', context);
      const { errorMessage: _, ...theirs } = alone.resolveStringEvaluation(name, 'by the caller', context);
      expect(own).toMatchObject(theirs);
      seen.add(`${name}: ${own.value}`);
    }
  }
  const values = (name: string): number => [...seen].filter((one) => one.startsWith(`${name}: `)).length;
  expect([values('suit'), values('fractional-flag-shorthand'), values('order')]).toEqual([4, 2, 3]);
});

it('refuses rules that the library can not read, and names the flag; the good ones stay', async () => {
  const good = { flags: { on: ofNames(['a', 'b'], { if: [true, 'a'] }) } };
  let source: object = good;
  const flags = new RefreshingValue({
    name: 'flags',
    load: () => source,
    schema: flagsSchema({ targeting }),
    logger: false,
  });
  const { client: own, events } = await registered(ticklessProvider({ flags, targeting }));
  for (const rule of [{ nosuch: [1] }, { if: [{ $ref: 'nowhere' }, 'a'] }]) {
    source = { flags: { on: ofNames(['a', 'b'], rule) } };
    const error = 'value refused: the schema refuses it: flag "on": Invalid targeting configuration';
    await expect(flags.refresh()).rejects.toThrow(error);
    expect(await own.getStringDetails('on', '')).toMatchObject({ value: 'a', reason: 'STALE' });
  }
  expect(events).toEqual(['PROVIDER_READY', ['PROVIDER_STALE', expect.stringContaining('flag "on"')]]);
});

it('a changed part of rules is a change of all flags with rules, a changed metadata of all flags', async () => {
  let source = FLAGS as { $evaluators: object; metadata: object; flags: object };
  const flags = new RefreshingValue({ name: 'flags', load: () => source });
  const { events } = await registered(ticklessProvider({ flags, targeting }));
  source = { ...source, $evaluators: { isBob: { '==': [{ var: 'email' }, 'bob'] } } };
  await flags.refresh();
  const names = Object.keys(source.flags);
  const changed = (some: readonly string[]): unknown => [
    'PROVIDER_CONFIGURATION_CHANGED',
    expect.toSatisfy((told: string[]) => [...told].sort().join() === [...some].sort().join()),
  ];
  expect(events.slice(1)).toEqual([changed(names.filter((name) => name !== 'off'))]);
  source = { ...source, metadata: {} };
  await flags.refresh();
  expect(events.slice(2)).toEqual([changed(names)]);
});
