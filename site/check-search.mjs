// Asks the built site what people ask, by the same index and options as its search box: a guide must come first.

import { readdirSync } from 'node:fs';
import MiniSearch from 'minisearch';
import { searchOptions } from './.vitepress/search.mjs';

/** A question, and the beginning of the address that must come first. */
const QUESTIONS = {
  whenTooStale: '/staleness',
  maxStaleness: '/staleness',
  propagateWithin: '/data',
  lockedTask: '/cluster',
  'redis down': '/failures',
  'database unavailable': '/failures',
  'thundering herd': '/failures',
  'cache stampede': '/failures',
  rollback: '/data',
  'cheat sheet': '/cheatsheet',
};

const chunks = new URL('dist/assets/chunks/', import.meta.url);
const file = readdirSync(chunks).find((name) => name.startsWith('@localSearchIndex'));
const { default: index } = await import(new URL(file, chunks).href);
const search = MiniSearch.loadJSON(index, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions,
});
const wrong = Object.entries(QUESTIONS).flatMap(([question, expected]) => {
  const found = search.search(question).map(({ id }) => id);
  return found[0]?.startsWith(expected)
    ? []
    : [`"${question}" finds ${found.slice(0, 3).join(', ') || 'nothing'}, not ${expected}`];
});
const unwanted = search
  .search('RefreshingValue')
  .filter(({ id }) => /^\/CHANGELOG/.test(id))
  .map(({ id }) => `${id} is in the index`);
for (const problem of [...wrong, ...unwanted]) console.log(problem);
process.exitCode = wrong.length + unwanted.length === 0 ? 0 : 1;
