// Postal codes in a Fastify service: each request reads them from memory. A request that finds them due starts a reload
// in the background, and does not wait for it.
import Fastify from 'fastify';
import { RefreshingValue } from 'tickless';
import zipcodes from 'zipcodes';

// Simulates the source: all codes as one JSON document.
const origin = Fastify();
const document = JSON.stringify(zipcodes.codes);
let loads = 0;
origin.get('/codes.json', (_request, reply) => {
  loads += 1;
  return reply.type('application/json').send(document);
});
const source = await origin.listen({ port: 0 });

const postalCodes = new RefreshingValue({
  name: 'postal-codes',
  load: async ({ signal }) => {
    const response = await fetch(`${source}/codes.json`, { signal });
    if (!response.ok) throw new Error(`the source answered ${response.status}`);
    const codes = (await response.json()) as Record<string, zipcodes.Place>;
    return new Map(Object.entries(codes));
  },
  schedule: { minutes: 10 },
});

const app = Fastify();
app.get<{ Params: { code: string } }>('/postal-codes/:code', async (request, reply) => {
  const codes = await postalCodes.get(); // only the first request waits for the load
  return codes.get(request.params.code) ?? reply.code(404).send({ error: 'no such postal code' });
});
app.addHook('onClose', () => postalCodes.close());
const service = await app.listen({ port: 0 });

const lookUp = (code: string) => fetch(`${service}/postal-codes/${code}`);

// A hundred requests on a cold service share one load.
const answers = await Promise.all(Array.from({ length: 100 }, () => lookUp('90210')));
const okCount = answers.filter(({ ok }) => ok).length;
console.log(`${okCount} requests, ${loads} load of ${postalCodes.current.size} codes`);

const beverlyHills = (await answers[0]?.json()) as zipcodes.Place;
console.log(`90210 is ${beverlyHills.city}, ${beverlyHills.state}`);
console.log(`00000 is answered with ${(await lookUp('00000')).status}`);

// The source goes down, a reload fails, and the service responds as before.
await origin.close();
await postalCodes.refresh().catch((error: Error) => console.log(error.message));
console.log(`10001 is still answered with ${(await lookUp('10001')).status}, from the codes in memory`);
await app.close();
