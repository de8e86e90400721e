// Feature flags with OpenFeature in flagd's format: reloaded when they are evaluated, served while their source is down, and a
// bad edition never replaces a good one. The source would be an endpoint, a table or a file.
import { OpenFeature, ProviderEvents } from '@openfeature/server-sdk';
import { RefreshingValue } from 'tickless';
import { flagsSchema, ticklessProvider } from 'tickless/openfeature';
import { FakeClock } from 'tickless/testing';

const edition = (defaultVariant: string) => ({
  flags: { checkout: { state: 'ENABLED', variants: { new: 'v2', old: 'v1' }, defaultVariant } },
});
let source = (): object => edition('old');
const clock = new FakeClock(); // for the example only: no need to wait
const flags = new RefreshingValue({
  name: 'flags',
  load: async () => source(),
  schema: flagsSchema(),
  schedule: { seconds: 30 },
  retry: false,
  logger: false,
  clock,
});

for (const type of Object.values(ProviderEvents)) {
  OpenFeature.addHandler(type, (details) => {
    const { message, flagsChanged } = (details ?? {}) as { message?: string; flagsChanged?: string[] };
    if (details?.providerName === 'tickless') console.log(`${type} ${message ?? flagsChanged ?? ''}`.trim());
  });
}
flags.on('load-ended', ({ outcome }) => {
  if (outcome === 'refused') console.log(`refused: ${flags.inspect().refused?.reason}`);
});
await OpenFeature.setProviderAndWait(ticklessProvider({ flags }));
const client = OpenFeature.getClient();

/** A request of a user; what is due is reloaded behind it. */
async function request(): Promise<void> {
  const { value, reason } = await client.getStringDetails('checkout', 'v1');
  console.log(`checkout ${value}, ${reason}`);
  await clock.advance(0);
}

const down = (): object => {
  throw new Error('503 Service Unavailable');
};
for (const next of [() => edition('new'), down, () => edition('newest'), () => edition('old')]) {
  await request();
  source = next;
  await clock.advance({ minutes: 3 });
  await request(); // starts the reload
}
await request();
await OpenFeature.close(); // the provider ends; the value is yours
await flags.close();
