import { type Strategy, stateless } from './strategy.ts';
import { isEarly, loadEntry, readEntry } from './xfetch-entry.ts';

/** Each read may load the value early, the likelier the nearer its expiry is. */
export const xfetch: Strategy = stateless('XFetch', async (means) => {
  const held = await readEntry(means);
  const { value } = held === undefined || isEarly(held) ? await loadEntry(means) : held;
  return { value, isMiss: held === undefined };
});
