// Finds the fenced code blocks of Markdown, also in the doc comments of TypeScript.

/**
 * @typedef {object} CodeBlock
 * @property {string} language the first word behind the fence
 * @property {string[]} marks the other words behind the fence
 * @property {number} line where its first line of code stands
 * @property {string[]} code
 */

/**
 * @param {string} markdown
 * @returns {CodeBlock[]}
 */
export function codeBlocksOf(markdown) {
  const blocks = [];
  let open;
  for (const [index, text] of markdown.split(/\r?\n/).entries()) {
    const fence = /^(?<indent>\s*)(?<ticks>`{3,}|~{3,})\s*(?<info>.*)$/.exec(text)?.groups;
    if (open === undefined) {
      if (fence === undefined) continue;
      const [language = '', ...marks] = fence.info.trim().split(/\s+/);
      open = { ...fence, block: { language, marks, line: index + 2, code: [] } };
    } else if (fence?.info === '' && fence.ticks.startsWith(open.ticks)) {
      blocks.push(open.block);
      open = undefined;
    } else {
      open.block.code.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text.trimStart());
    }
  }
  if (open !== undefined) throw new Error(`line ${open.block.line - 1}: the code block is never closed`);
  return blocks;
}

/** The text of the doc comments of a source, at the lines where they stand; every other line is empty. */
export function docCommentsOf(source) {
  let markdown = '';
  let end = 0;
  const newlines = (text) => text.replace(/[^\n]/g, '');
  for (const { 0: comment, index } of source.matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    markdown += newlines(source.slice(end, index));
    markdown += comment.slice('/**'.length, -'*/'.length).replace(/^[ \t]*\* ?/gm, '');
    end = index + comment.length;
  }
  return markdown + newlines(source.slice(end));
}
