import { setTimeout as sleep } from 'node:timers/promises';
import { exclusively } from './mutex.ts';
import { type Means, PART_OF_LOAD, type Strategy, stateless } from './strategy.ts';
import { isEarly, loadEntry, readEntry, type XFetchEntry } from './xfetch-entry.ts';

/**
 * XFetch with a lock: one of the readers that should load does. The others use the present value, or wait if there is
 * none.
 */
export const xfetchWithLock: Strategy = stateless('XFetch + lock', async (means) => {
  const held = await readEntry(means);
  if (held !== undefined && !isEarly(held)) return { value: held.value, isMiss: false };
  let entry = await exclusively(means, () => newerOrLoaded(means, held));
  entry ??= held;
  while (entry === undefined) {
    await sleep(PART_OF_LOAD * means.loadMs);
    entry = (await readEntry(means)) ?? (await exclusively(means, () => newerOrLoaded(means, held)));
  }
  return { value: entry.value, isMiss: held === undefined };
});

async function newerOrLoaded(means: Means, than: XFetchEntry | undefined): Promise<XFetchEntry> {
  const now = await readEntry(means);
  return now === undefined || now.expiry === than?.expiry ? loadEntry(means) : now;
}
