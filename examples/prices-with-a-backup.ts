// Prices of a service, or of its mirror while the service is down. A mirror lags behind: its older edition never replaces a newer one
// of the service, unless that is over an hour old.
import { keep, type LoadContext, loaded, RefreshingValue } from 'tickless';
import { firstOf } from 'tickless/sources';
import { FakeClock } from 'tickless/testing';

const clock = new FakeClock({ now: '2026-11-20T12:00:00Z' }); // a test clock, for the example alone

/** A source of your own, which keeps its own edition. `httpSource` does the same by `ETag`, and reads `Last-Modified`. */
class Server {
  readonly name: string;
  isUp = true;
  edition = { apple: 120, editedAt: clock.now() };

  constructor(name: string) {
    this.name = name;
  }

  readonly load = async ({ previous }: LoadContext) => {
    if (!this.isUp) throw new Error(`${this.name} is down`);
    const { apple, editedAt } = this.edition;
    const isOwn = previous?.meta?.source === this.name && previous.meta.editedAt === editedAt;
    return isOwn ? keep() : loaded({ apple }, { meta: { source: this.name, editedAt } });
  };
}
const [service, mirror] = [new Server('service'), new Server('mirror')];

const prices = new RefreshingValue({
  name: 'prices',
  load: firstOf(service.load, mirror.load, { allowOlderAfter: { hours: 1 }, clock }),
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
mirror.edition = { apple: 115, editedAt: clock.now() - 3_600_000 };
await clock.advance({ minutes: 30 });
await show('the service is down, the mirror has an older edition');
mirror.edition = { apple: 125, editedAt: clock.now() };
await clock.advance({ minutes: 2 });
await show('the mirror has a newer one');
service.isUp = true;
service.edition = { apple: 130, editedAt: clock.now() };
await clock.advance({ minutes: 2 });
await show('the service is back');
service.isUp = false;
mirror.edition = { apple: 110, editedAt: 0 };
await clock.advance({ minutes: 65 });
await show('an hour without the service');
