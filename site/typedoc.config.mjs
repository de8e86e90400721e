// The API reference: a page for each public name, from the declarations of the built package.

import { readFileSync } from 'node:fs';

const { exports } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const entryOf = (name) => (name === 'index' ? 'tickless' : `tickless/${name}`);

/** @type {import('typedoc').TypeDocOptions & import('typedoc-plugin-markdown').PluginOptions} */
export default {
  entryPoints: Object.values(exports).flatMap(({ types }) => (types ? [`../${types}`] : [])),
  tsconfig: 'tsconfig.json',
  plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
  out: 'pages/api',
  docsRoot: 'pages',
  readme: 'none',
  name: 'API reference',
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  skipErrorChecking: true, // of the declarations of clients, which are not installed here
  validation: { notExported: false }, // types that only a signature names
  parametersFormat: 'table',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  pageTitleTemplates: { module: ({ name }) => entryOf(name) },
};
