// Express: JSON from memory with correct headers Age and Cache-Status, and 503 with Retry-After while there is no value.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import express, { type ErrorRequestHandler } from 'express';
import { ageHeaders, isTicklessError, RefreshingValue } from 'tickless';

let isUp = false;
const countries = new RefreshingValue({
  name: 'countries',
  load: async () => {
    if (!isUp) throw new Error('the database is starting up');
    return { NL: 'Netherlands', BE: 'Belgium' };
  },
  schedule: { hours: 6 },
  coolDown: { seconds: 10 }, // jittered: between 5 and 10 after a failure
});

const app = express();
app.get('/countries', async (_request, response) => {
  const value = await countries.get(); // Express 5 passes a rejection to the error handler
  response.set(ageHeaders(countries.inspect())).json(value);
});
const unavailable: ErrorRequestHandler = (error, _request, response, next) => {
  if (isTicklessError(error, 'COOLING_DOWN'))
    response.set('Retry-After', String(Math.ceil((error.retryAt - Date.now()) / 1000)));
  else if (!isTicklessError(error, 'LOAD_FAILED') && !isTicklessError(error, 'TIMED_OUT')) return next(error);
  response.status(503).json({ error: error.message });
};
app.use(unavailable);

const server = app.listen(0);
await once(server, 'listening');
const url = `http://localhost:${(server.address() as AddressInfo).port}/countries`;

const cold = await fetch(url); // starts the load, and shares its failure
const cooling = await fetch(url); // starts none: the source is left alone for a while
console.log(`${cold.status}, Retry-After: ${cold.headers.get('retry-after')}, ${await cold.text()}`);
console.log(`${cooling.status}, Retry-After: ${cooling.headers.get('retry-after')}, ${await cooling.text()}`);

isUp = true;
await countries.refresh(); // ignores the cool-down
await new Promise((resolve) => setTimeout(resolve, 1100));
const warm = await fetch(url);
console.log(`${warm.status}, Age: ${warm.headers.get('age')}, ${await warm.text()}`);

await countries.close();
server.close();
server.closeAllConnections();
