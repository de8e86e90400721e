// The site for assistants (https://llmstxt.org): llms.txt lists the pages, llms-full.txt has the texts of all guides.

/** Readers with little room leave this section out; llms-full.txt has none of its pages. */
const OPTIONAL = 'About tickless';

/** The document without pictures, which a text can't show; without what only HTML needs. */
export function plainText(markdown) {
  return markdown.replace(/!\[([^\]]*)\]\([^)]*\)/g, '(Picture: $1)').replace(/^<!--.*-->\n/gm, '');
}

/** The sections of the list of pages, in their order. @param {string} index the text of docs/README.md, with links as the site has them */
function sectionsIn(index) {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const title = section.slice(0, section.indexOf('\n'));
      const pages = Array.from(
        section.matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\)(.*)$/gm),
        ([line, , page]) => ({
          line,
          page,
        }),
      );
      return { title, pages };
    });
}

/**
 * @param {{ index: string, summary: string, textOf: (page: string) => string }} site `index`: the list of pages, which begins with what
 *   tickless is; `summary`: one line; `textOf`: the text of a page
 * @returns {{ 'llms.txt': string, 'llms-full.txt': string, pages: string[] }} both, and the pages that the first one links to
 */
export function llmsFiles({ index, summary, textOf }) {
  const sections = sectionsIn(index);
  const guides = sections.filter(({ title }) => title !== OPTIONAL);
  const head = `# tickless\n\n> ${summary}\n`;
  const lists = sections.map(
    ({ title, pages }) =>
      `## ${title === OPTIONAL ? 'Optional' : title}\n\n${pages.map(({ line }) => line).join('\n')}\n`,
  );
  const about = 'All guides in one file: [llms-full.txt](llms-full.txt).\n';
  const texts = guides.flatMap(({ pages }) => pages.map(({ page }) => `<!-- ${page} -->\n\n${textOf(page)}`));
  return {
    'llms.txt': [head, about, ...lists].join('\n'),
    'llms-full.txt': [head, ...texts].join('\n'),
    pages: sections.flatMap(({ pages }) => pages.map(({ page }) => page)),
  };
}

/** Relative links without a file. @param {(path: string) => boolean} exists whether the site has that file */
export function deadLinks(text, exists) {
  const prose = text.replace(/^(`{3,})[\s\S]*?^\1/gm, '').replace(/`[^`\n]*`/g, '');
  const targets = Array.from(prose.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g), ([, link]) => link);
  return [...new Set(targets)].filter((link) => !exists(link));
}
