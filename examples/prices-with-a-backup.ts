// Prices of a service, or of its mirror while the service is down. A mirror lags behind: its older edition never replaces a newer one
// of the service, unless that is over an hour old.
import { keep, type LoadContext, loaded, RefreshingValue } from 'tickless';
import { notEmpty } from 'tickless/guards';
import { firstOf } from 'tickless/sources';
import { FakeClock } from 'tickless/testing';

type Prices = Readonly<Record<string, number>>;
type Server = { isUp: boolean; edition: { prices: Prices; editedAt: number } };

const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' }); // a test clock, for the example alone
const minutes = (count: number): number => count * 60_000;
const service: Server = {
  isUp: true,
  edition: { prices: { apple: 120 }, editedAt: clock.now() - minutes(5) },
};
const mirror: Server = {
  isUp: true,
  edition: { prices: { apple: 115 }, editedAt: clock.now() - minutes(90) },
};

/** A source of your own, which keeps its own edition. `httpSource` does the same with `Last-Modified`. */
const from =
  (name: string, server: Server) =>
  async ({ previous }: LoadContext) => {
    if (!server.isUp) throw new Error(`${name} is down`);
    const { prices, editedAt } = server.edition;
    const isOwn = previous?.meta?.source === name && previous.meta.editedAt === editedAt;
    return isOwn ? keep() : loaded<Prices>(prices, { meta: { source: name, editedAt } });
  };

const prices = new RefreshingValue({
  name: 'prices',
  load: firstOf(from('service', service), from('mirror', mirror), {
    accept: notEmpty(),
    allowOlderAfter: { hours: 1 },
    clock,
  }),
  schedule: { minutes: 10 },
  logger: false,
  clock,
});
async function show(what: string): Promise<void> {
  await prices.get();
  await clock.advance({ seconds: 10 }); // the reload behind the read
  const { apple } = await prices.get();
  const { age, meta } = prices.inspect();
  console.log(`${what}: ${apple} of the ${meta?.source}, ${Math.floor((age ?? 0) / 60_000)} minutes old`);
}

await show('at the start');
service.isUp = false;
await clock.advance({ minutes: 30 });
await show('the service is down, the mirror has an older edition');
mirror.edition = { prices: { apple: 125 }, editedAt: clock.now() };
await clock.advance({ minutes: 2 });
await show('the mirror has a newer one');
service.isUp = true;
service.edition = { prices: { apple: 130 }, editedAt: clock.now() };
await clock.advance({ minutes: 2 });
await show('the service is back');
service.isUp = false;
mirror.edition = { prices: { apple: 110 }, editedAt: 0 };
await clock.advance({ minutes: 65 });
await show('an hour without the service');
