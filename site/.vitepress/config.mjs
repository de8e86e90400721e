// The site of docs/, as scripts/site.mjs gathers it. docs/README.md gives the order of the pages.

import { readFileSync } from 'node:fs';
import { slug } from 'github-slugger';
import { defineConfig } from 'vitepress';
import { renderForSearch, searchOptions } from './search.mjs';

const read = (path) => readFileSync(new URL(path, import.meta.url), 'utf8');
const { homepage, version } = JSON.parse(read('../../package.json'));
const repository = homepage.replace(/#.*/, '');

/** The sections of docs/README.md, and the pages that each lists. */
const sections = read('../pages/index.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: Array.from(section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\.md\)/gm), ([, text, page]) => ({
      text,
      link: `/${page}`,
    })),
  }));
sections.find(({ text }) => text === 'Reference')?.items.unshift({ text: 'API', link: '/api/' });

/** The entries of the package, each with a sidebar of its own: all names in that of each page would be 80 MB. */
const entries = JSON.parse(read('../pages/api/typedoc-sidebar.json')).flatMap(function entriesIn(item) {
  const { link, items = [] } = item;
  if (!link?.endsWith('/')) return [];
  const text = link.replace(/^\/api\/(index)?/, 'tickless/').replace(/\/+$/, '');
  const inner = items.filter((each) => each.link?.endsWith('/'));
  return [{ text, link, items: items.filter((each) => !inner.includes(each)) }, ...inner.flatMap(entriesIn)];
});
const api = { text: 'API reference', link: '/api/' };

export default defineConfig({
  title: 'tickless',
  description: 'Reference data that refreshes when it is read.',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  cleanUrls: true,
  lastUpdated: false,
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 4000 } },
  markdown: {
    anchor: { slugify: (text) => slug(text) }, // as on GitHub
    languageAlias: { promql: 'text' },
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'API', link: '/api/' },
      { text: version, link: '/CHANGELOG' },
    ],
    sidebar: Object.fromEntries([
      ['/', sections],
      ['/api/', [{ ...api, items: entries.map(({ text, link }) => ({ text, link })) }]],
      ...entries.map(({ link, items }) => [link, [api, ...items]]),
    ]),
    outline: [2, 3],
    search: { provider: 'local', options: { _render: renderForSearch, miniSearch: { searchOptions } } },
    socialLinks: [{ icon: 'github', link: repository }],
  },
});
