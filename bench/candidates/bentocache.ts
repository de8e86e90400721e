import { BentoCache, bentostore } from 'bentocache';
import { memoryDriver } from 'bentocache/drivers/memory';
import { type Candidate, KEEP_MS } from './candidate.ts';

export const bentocache: Candidate = {
  name: 'bentocache',
  open(load, periodMs) {
    const bento = new BentoCache({
      default: 'memory',
      stores: { memory: bentostore().useL1Layer(memoryDriver({ maxItems: 100, serialize: false })) },
    });
    // A timeout of 0 serves the old value at once; the factory continues in the background.
    const options = { key: 'key', ttl: periodMs, grace: KEEP_MS, timeout: 0, factory: () => load() };
    return { read: () => bento.getOrSet(options) };
  },
};
