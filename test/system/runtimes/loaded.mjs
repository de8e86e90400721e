/** What main.mjs loads in a thread. */
export async function load() {
  return new Map([['loaded in', 'a thread']]);
}
