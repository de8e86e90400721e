// A reload with heavy computation runs in a thread, and the service continues to respond. The thread is started for one
// load, and ends with it.
import { isTicklessError, RefreshingValue } from 'tickless';
import { isWorkerError, loadInWorker } from 'tickless/worker';

interface Codes {
  readonly etag: string;
  readonly places: ReadonlyMap<string, { readonly city: string }>;
  readonly latitudes: Float64Array;
}

const postalCodes = new RefreshingValue({
  name: 'postal-codes',
  load: loadInWorker<Codes>(new URL('./modules/postal-codes.mjs', import.meta.url), {
    previous: ({ etag }: Codes) => etag, // the only part of the present value that the thread gets
    resourceLimits: { maxOldGenerationSizeMb: 500 },
  }),
  schedule: { minutes: 10 },
});

// Simulates the requests during the load.
let turns = 0;
const requests = setInterval(() => {
  turns += 1;
}, 1);

const codes = await postalCodes.get();
console.log(
  `${codes.places.size} codes and ${codes.latitudes.length} latitudes, 1012 is ${codes.places.get('1012')?.city}`,
);
console.log(`the event loop ${turns > 0 ? 'went on' : 'stood still'} meanwhile`);

const kept = (await postalCodes.refresh()) === codes; // keep(): the very same object, nothing was cloned
console.log(`${kept ? 'kept' : 'replaced'}: ${codes.etag}`);
clearInterval(requests);

// A failure in a thread rejects the load, and does not affect the process.
const moduleOf = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const exits = new RefreshingValue({
  name: 'exits',
  load: loadInWorker(moduleOf('export const load = () => process.exit(3)')),
});
const error = (await exits.get().catch((error) => error)) as Error;
console.log(error.message, isWorkerError(error.cause) ? error.cause.exitCode : error.cause);

const busy = new RefreshingValue({
  name: 'busy',
  load: loadInWorker(moduleOf('export const load = () => { for (;;); }')), // no signal could stop it here
  timeout: 500,
});
const late = await busy.get().catch((error) => error);
console.log(`a load that never ends was ended at its deadline: ${isTicklessError(late, 'TIMED_OUT')}`);
