// How the site is searched: part of its configuration, and what site/check-search.mjs searches with.

/** It names everything, and explains nothing. */
const UNSEARCHED = ['CHANGELOG.md'];

/** The page as HTML for the index, which is empty where the page is not searched. */
export function renderForSearch(source, env, markdown) {
  const html = markdown.render(source, env);
  return UNSEARCHED.includes(env.relativePath) ? '' : html;
}

/** Options of MiniSearch. The page gets its functions as texts: they use nothing outside themselves. */
export const searchOptions = {
  fuzzy: 0.2,
  prefix: true,
  boost: { title: 4, text: 2, titles: 1 },
  /** Guides before the generated reference, that before the record of decisions. */
  boostDocument: (id) =>
    id.startsWith('/api/') ? 0.02 : /^\/(?:decisions|ARCHITECTURE|RELIABILITY)/.test(id) ? 0.3 : 1,
  /** Each word of a question, and those that the guides use for it. */
  processTerm: (term) => {
    const word = term.toLowerCase();
    const synonyms = {
      stampede: 'herd',
      dogpile: 'herd',
      unavailable: 'down',
      offline: 'down',
      outage: 'down',
      expired: 'stale',
      ttl: 'maxstaleness',
      mutex: 'lock',
      leader: 'lock',
      dedupe: 'deduplication',
      throttled: '429',
      k8s: 'kubernetes',
    };
    return Object.hasOwn(synonyms, word) ? [word, synonyms[word]] : word;
  },
};
