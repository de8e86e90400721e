import { OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { RefreshingValue, type ValueOptions } from '../../../src/index.ts';
import { type FlagsValue, ticklessProvider } from '../../../src/openfeature/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { fakeValue } from '../../support/manual-value.ts';
import { type Registered, registered, VarEvaluator } from '../../support/open-feature.ts';

type Flags = Record<string, boolean>;

interface Served extends Registered {
  readonly clock: FakeClock;
  readonly flags: RefreshingValue<Flags>;
  /** What the source answers; an error: it fails with that. */
  source: Flags | Error;
  /** The value of `on`, which is `false` by default, and the reason; the reload behind it has ended. */
  on(): Promise<[value: boolean, reason: string | undefined, code: string | undefined]>;
}

/** A provider over a value with a period of 1 s, of which the first load has ended. */
async function served(options: Partial<ValueOptions<Flags>> = {}, source: Flags | Error = { on: true }) {
  const load = async (): Promise<Flags> => {
    if (made.source instanceof Error) throw made.source;
    return made.source;
  };
  const { clock, value: flags } = fakeValue<Flags>(load, { schedule: 1000, name: 'flags', ...options });
  const made = { clock, flags, source } as Served;
  const on: Served['on'] = async () => {
    const { value, reason, errorCode } = await made.client.getBooleanDetails('on', false);
    await clock.advance(0);
    return [value, reason, errorCode];
  };
  return Object.assign(made, await registered(ticklessProvider({ flags })), { on });
}

const DOWN = new Error('the source is down');
const READY = 'PROVIDER_READY';
const changed = (...names: string[]): unknown[] => ['PROVIDER_CONFIGURATION_CHANGED', names];
const stale = (message = 'flags: load failed: the source is down'): unknown[] => ['PROVIDER_STALE', message];

it('waits for the first definitions: evaluations before get the default', async () => {
  const manual = new ManualLoad<Flags>();
  const flags = new RefreshingValue({ name: 'flags', load: manual.load });
  const client = OpenFeature.getClient('waits');
  const ready: unknown[] = [];
  client.addHandler(ProviderEvents.Ready, () => ready.push(client.providerStatus));
  ready.length = 0;
  const set = OpenFeature.setProviderAndWait('waits', ticklessProvider({ flags }));
  expect(client.providerStatus).toBe('NOT_READY');
  expect(await client.getBooleanDetails('on', false)).toMatchObject({ errorCode: 'PROVIDER_NOT_READY' });
  expect(manual.calls).toHaveLength(1);
  manual.call(0).resolve({ on: true });
  await set;
  expect([await client.getBooleanValue('on', false), ready]).toEqual([true, ['READY']]);
});

it('names the flags that were added, removed or changed; equal definitions are no event', async () => {
  const all = await served({}, { on: true, same: true, gone: true });
  all.source = { on: true, same: true, gone: true };
  await all.clock.advance(1000);
  expect(await all.on()).toEqual([true, 'STATIC', undefined]);
  expect(all.events).toEqual([READY]);
  all.source = { on: false, same: true, come: true };
  await all.clock.advance(1000);
  expect(await all.on()).toEqual([true, 'STATIC', undefined]); // the reload ran behind it
  expect(all.events).toEqual([READY, changed('on', 'gone', 'come')]);
  expect(await all.on()).toEqual([false, 'STATIC', undefined]);
  all.flags.set({ on: true, same: true, come: true });
  expect(all.events.slice(2)).toEqual([changed('on')]);
  expect(all.client.providerStatus).toBe('READY');
});

it('is stale while reloads fail, with the reason in the event; then ready, and what has changed', async () => {
  const all = await served();
  all.source = DOWN;
  await all.clock.advance(1000);
  expect(all.events).toEqual([READY]); // nothing has read
  expect(await all.on()).toEqual([true, 'STATIC', undefined]); // its reload fails behind it
  expect([all.client.providerStatus, all.events]).toEqual(['STALE', [READY, stale()]]);
  expect(await all.on()).toEqual([true, 'STALE', undefined]);
  expect((await all.client.getStringDetails('on', '')).reason).toBe('ERROR'); // not a resolved value
  await all.clock.advance({ minutes: 5 });
  await all.on(); // fails again
  expect(all.events).toEqual([READY, stale()]);
  all.source = { on: false };
  await all.clock.advance({ minutes: 5 });
  await all.on();
  expect(all.events).toEqual([READY, stale(), READY, changed('on')]);
  expect([await all.on(), all.client.providerStatus]).toEqual([[false, 'STATIC', undefined], 'READY']);
});

it('is stale when a load has timed out', async () => {
  const load = new ManualLoad<Flags>();
  const { clock, value: flags } = fakeValue(load.load, { name: 'flags', schedule: 1000, timeout: 500 });
  flags.set({ on: true });
  const { client, events } = await registered(ticklessProvider({ flags }));
  await clock.advance(1000);
  await client.getBooleanValue('on', false);
  await clock.advance(500);
  expect(events.slice(1)).toEqual([['PROVIDER_STALE', expect.stringContaining('500 ms')]]);
});

it('is in error when there are no definitions, and ready with the first ones', async () => {
  const all = await served({}, DOWN);
  const message = 'flags: load failed: the source is down';
  expect([all.client.providerStatus, all.events]).toEqual(['ERROR', [['PROVIDER_ERROR', message]]]);
  const load = OpenFeature.setProviderAndWait('fails', ticklessProvider({ flags: all.flags }));
  await expect(load).rejects.toMatchObject({
    code: 'GENERAL',
    message: expect.stringContaining('cooling down'),
    cause: expect.objectContaining({ code: 'COOLING_DOWN' }),
  });
  expect(await all.on()).toEqual([false, 'ERROR', 'PROVIDER_NOT_READY']);
  await all.flags.refresh().catch(() => undefined); // of another reader
  expect(all.events).toHaveLength(1);
  all.source = { on: true };
  await all.clock.advance({ minutes: 5 });
  expect(await all.on()).toEqual([false, 'ERROR', 'PROVIDER_NOT_READY']); // it has started the load
  expect(all.events.slice(1)).toEqual([READY, changed('on')]);
  expect([await all.on(), all.client.providerStatus]).toEqual([[true, 'STATIC', undefined], 'READY']);
  await OpenFeature.setProviderAndWait('fails', ticklessProvider({ flags: all.flags }));
});

it.each(['throw', 'wait'] as const)(
  'is in error beyond maxStaleness with %j: one event, and the default',
  async (whenTooStale) => {
    const all = await served({ maxStaleness: 5000, whenTooStale });
    all.source = DOWN;
    await all.clock.advance(6000);
    for (const _ of [1, 2, 3]) expect(await all.on()).toEqual([false, 'ERROR', 'GENERAL']);
    const [, error, ...others] = all.events;
    expect([error, others]).toEqual([['PROVIDER_ERROR', expect.stringContaining('maxStaleness')], []]);
    all.source = { on: true };
    await all.clock.advance({ minutes: 5 });
    await all.on();
    expect([all.events.slice(2), await all.on()]).toEqual([[READY], [true, 'STATIC', undefined]]);
  },
);

it('is in error while reads fail with the last reload, if the value has them fail', async () => {
  const all = await served({ whenFailing: 'throw' });
  all.source = DOWN;
  await all.clock.advance(1000);
  await all.on();
  expect(await all.on()).toEqual([false, 'ERROR', 'GENERAL']);
  expect(all.client.providerStatus).toBe('ERROR');
  all.source = { on: true };
  await all.clock.advance({ minutes: 5 });
  await all.on();
  expect([await all.on(), all.client.providerStatus]).toEqual([[true, 'STATIC', undefined], 'READY']);
});

it('says in the event of an error which one it is', async () => {
  const all = await served({ maxStaleness: 5000, whenTooStale: 'throw' });
  const codes: unknown[] = [];
  all.client.addHandler(ProviderEvents.Error, (details) => {
    codes.push([details?.errorCode, all.client.providerStatus]);
  });
  all.flags.set({ on: null as never });
  all.flags.set({ on: true });
  all.source = DOWN;
  await all.clock.advance(6000);
  await all.on();
  expect(codes).toEqual([
    ['PARSE_ERROR', 'ERROR'],
    ['GENERAL', 'ERROR'],
  ]);
});

it('is in error while a definition in place is faulty', async () => {
  const all = await served();
  all.flags.set({ on: null as never, off: false });
  const problem = 'flag "on": must be a boolean, a string, a finite number, an object or an array, not null';
  expect(all.events.slice(1)).toEqual([['PROVIDER_ERROR', problem], changed('on', 'off')]);
  expect(await all.on()).toEqual([false, 'ERROR', 'PARSE_ERROR']);
  all.flags.set([true] as never);
  expect(await all.on()).toEqual([false, 'ERROR', 'FLAG_NOT_FOUND']);
  all.flags.set({ on: true });
  expect(all.events.slice(3)).toEqual([changed('on', 'off'), READY, changed('on')]);
});

it('shows the first faulty flags, and how many more there are', async () => {
  const many = Object.fromEntries(Array.from({ length: 7 }, (_, at) => [at, null as never]));
  const { events } = await served({}, many);
  const [[, message]] = events as [[string, string]];
  expect(message.match(/flag "\d"/g)?.join()).toBe('flag "0",flag "1",flag "2",flag "3",flag "4"');
  expect(message).toMatch(/; and 2 more$/);
});

it('shows five of them as they are', async () => {
  const five = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [at, null as never]));
  const { events } = await served({}, five);
  expect(events).toEqual([['PROVIDER_ERROR', expect.stringMatching(/; flag "4": must be .+, not null$/)]]);
});

it('a changed rule, or a changed part of rules, is a change of the flag', async () => {
  const edition = (rule: object, $evaluators: object): never =>
    ({
      $evaluators,
      flags: { byUser: { state: 'ENABLED', variants: { on: true }, defaultVariant: 'on', targeting: rule } },
    }) as never;
  const flags = fakeValue<Flags>(() => edition({ var: 'user' }, {}), { name: 'flags' }).value;
  const targeting = (): VarEvaluator => new VarEvaluator();
  const { events } = await registered(ticklessProvider({ flags, targeting }));
  flags.set(edition({ var: 'user' }, {}));
  flags.set(edition({ var: 'theme' }, {}));
  flags.set(edition({ var: 'theme' }, { isStaff: true }));
  expect(events).toEqual([READY, changed('byUser'), changed('byUser')]);
});

it('serves an initial value, and is stale when the first load fails', async () => {
  const all = await served({ initial: { value: { on: true }, loadedAt: 0 } }, DOWN);
  await all.clock.advance(0);
  expect(await all.on()).toEqual([true, 'STALE', undefined]);
  expect(all.client.providerStatus).toBe('STALE');
});

it('is fatal over a value that is closed, and stale when it is closed later: it never closes it', async () => {
  const all = await served();
  await OpenFeature.setProviderAndWait(all.domain, ticklessProvider({ flags: all.flags }));
  expect(await all.on()).toEqual([true, 'STATIC', undefined]); // the provider before has not closed it
  await all.flags.close();
  expect(all.events.slice(2)).toEqual([stale('flags: is closed, and loads no more')]);
  expect(await all.on()).toEqual([true, 'STALE', undefined]);

  const closed = fakeValue<Flags>(() => ({ on: true }), { name: 'flags' }).value;
  await closed.close();
  const { client, events } = await registered(ticklessProvider({ flags: closed }));
  expect([client.providerStatus, events]).toEqual([
    'FATAL',
    [['PROVIDER_ERROR', 'flags: is closed, and was never loaded']],
  ]);
});

it('emits nothing once it is closed, also while it is initialized', async () => {
  const manual = new ManualLoad<Flags>();
  const flags = new RefreshingValue({ name: 'flags', load: manual.load, logger: false });
  const provider = ticklessProvider({ flags });
  const events: unknown[] = [];
  provider.events?.addHandler(ProviderEvents.ConfigurationChanged, (details) => {
    events.push(details);
  });
  const initialized = provider.initialize?.();
  await provider.onClose?.();
  manual.call(0).resolve({ on: true });
  await initialized;
  flags.set({ on: false });
  const logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };
  await provider.resolveBooleanEvaluation('on', true, {}, logger);
  expect(events).toEqual([]);
});

it('hears nothing more once it is replaced, and goes on when it is set again', async () => {
  const heard: string[] = [];
  const all = await served();
  const provider = ticklessProvider({ flags: listening(all.flags, heard) });
  await OpenFeature.setProviderAndWait('replaced', provider);
  expect(new Set(heard).size).toBe(6);
  await OpenFeature.setProviderAndWait('replaced', ticklessProvider({ flags: all.flags }));
  expect(heard).toEqual([]);
  await OpenFeature.setProviderAndWait('replaced', provider);
  await provider.initialize?.(); // as it is below a provider of several
  expect([new Set(heard).size, heard.length]).toEqual([6, 6]);
  expect(await OpenFeature.getClient('replaced').getBooleanValue('on', false)).toBe(true);
});

it('forgets that it was stale when it is replaced: it does not hear of the end', async () => {
  const all = await served();
  const provider = ticklessProvider({ flags: all.flags });
  await OpenFeature.setProviderAndWait(all.domain, provider);
  all.source = DOWN;
  await all.clock.advance(1000);
  await all.on();
  expect(all.client.providerStatus).toBe('STALE');
  await OpenFeature.setProviderAndWait(all.domain, ticklessProvider({ flags: all.flags }));
  all.source = { on: true };
  await all.flags.refresh();
  await OpenFeature.setProviderAndWait(all.domain, provider);
  expect([await all.on(), all.client.providerStatus]).toEqual([[true, 'STATIC', undefined], 'READY']);
});

/** The types of events that are listened to, each as often as it is. */
function listening(flags: RefreshingValue<Flags>, heard: string[]): FlagsValue {
  return {
    get: () => flags.get(),
    get current() {
      return flags.current;
    },
    on(type, listener) {
      heard.push(type);
      const stop = flags.on(type, listener as never);
      return () => {
        heard.splice(heard.indexOf(type), 1);
        stop();
      };
    },
  };
}

it('a flag that is set on one instance everywhere is a change on the other', async () => {
  const clock = new FakeClock();
  const backend = memoryBackend({ clock });
  const instance = (): RefreshingValue<Flags> =>
    fakeValue<Flags>(() => ({ on: false, limit: true }), {
      name: 'flags',
      schedule: { hours: 1 },
      propagateWithin: 1000,
      backend,
      clock,
    }).value;
  const [here, there] = [instance(), instance()];
  const { client, events } = await registered(ticklessProvider({ flags: there }));
  await here.get();
  await here.set({ on: true, limit: true });
  await clock.advance(1000);
  expect(await client.getBooleanValue('on', false)).toBe(false); // its check runs behind it
  await clock.advance(100);
  expect(events).toEqual([READY, changed('on')]);
  expect(await client.getBooleanValue('on', false)).toBe(true);
});
