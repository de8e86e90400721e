// Reads the imports of TypeScript source, without a compiler.

/**
 * @typedef {object} Import
 * @property {string} specifier
 * @property {number} line
 * @property {boolean} isTypeOnly gone when compiled. `import { type A }` is not: under `verbatimModuleSyntax` the
 *   import stays, with empty braces.
 */

// First alternative that matches at a place wins: what looks like an import inside a comment or string is passed over.
const PASSED_OVER = String.raw`\/\*[\s\S]*?\*\/|\/\/[^\n]*|${'`'}(?:\\[\s\S]|[^${'`'}\\])*${'`'}`;
const STRING = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`;
const STATEMENT = String.raw`\b(?<keyword>import|export)\s*(?<type>type\b)?(?<names>[\w$\s,*{}]*?\bfrom\s*|\s*)(?<static>${STRING})`;
const CALL = String.raw`\bimport\s*\(\s*(?<dynamic>${STRING})`;
const TOKEN = new RegExp(`${PASSED_OVER}|${STATEMENT}|${CALL}|${STRING}`, 'g');

/**
 * Static imports, re-exports, and `import('…')` of a literal, be it a value or a type.
 *
 * @param {string} source
 * @returns {Import[]}
 */
export function importsOf(source) {
  const imports = [];
  for (const { index, groups } of source.matchAll(TOKEN)) {
    const quoted = groups.static ?? groups.dynamic;
    if (quoted === undefined) continue;
    imports.push({
      specifier: quoted.slice(1, -1),
      line: source.slice(0, index).split('\n').length,
      isTypeOnly: groups.type !== undefined,
    });
  }
  return imports;
}
