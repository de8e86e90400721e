import { RefreshingValue } from 'tickless';
import { loadInWorker } from 'tickless/worker';
import { runAll } from './program.mjs';

/** @param {string} module beside this one */
async function loadedInThread(module) {
  const load = loadInWorker(new URL(module, import.meta.url));
  const value = new RefreshingValue({ name: module, load, retry: { retries: 0 }, logger: false });
  try {
    return (await value.get()).get('loaded in');
  } catch (error) {
    return error.cause?.code;
  }
}

const checks = await runAll();
const told = [await loadedInThread('./loaded.mjs'), await loadedInThread('./missing.mjs')].join(', ');
if (told !== 'a thread, ERR_TICKLESS_WORKER_MODULE') throw new Error(`loads in threads: ${told}`);
console.log(`${checks}, loads in threads`);
