// Reads TypeScript sources with a parser and puts a call at the start of each function body.

import { transformSync } from 'esbuild';
import { parseSync, visitorKeys } from 'oxc-parser';

const FUNCTIONS = ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'];
const TYPES = ['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration'];
/** A node that gives its name to the functions inside it, and the child that is its name. */
const NAMED = {
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
  Property: 'key',
  VariableDeclarator: 'id',
};

/**
 * @typedef {object} SourceFunction
 * @property {string} name with the names of what encloses it: `Reader.#read`
 * @property {boolean} isShort an arrow function whose body is an expression
 */

/**
 * @param {string} file its name, for the parser's messages
 * @param {string} source TypeScript
 * @param {(found: SourceFunction) => string} callFor the expression that is put at the start of that function's body
 * @returns {{ code: string, types: string[], classes: string[] }} JavaScript whose relative imports end in `.mjs`; the
 *   names of the types it declares
 */
export function instrument(file, source, callFor) {
  const { program, module, errors } = parseSync(file, source);
  if (errors.length > 0) throw new SyntaxError(`${file}: ${errors[0].message}`);
  const found = { types: [], classes: [] };
  /** Texts by the offset in the source before which they go. */
  const insertions = [];

  const visit = (node, names) => {
    const ownName = node.id?.name ?? nameOf(node[NAMED[node.type]]);
    const inside = ownName === undefined ? names : [...names, ownName];
    if (TYPES.includes(node.type)) found.types.push(ownName);
    if (node.type === 'ClassDeclaration') found.classes.push(ownName);
    if (FUNCTIONS.includes(node.type) && node.body) {
      const { type, start, end } = node.body;
      const isShort = node.type === 'ArrowFunctionExpression' && type !== 'BlockStatement';
      const call = callFor({ name: inside.join('.'), isShort });
      if (isShort) insertions.push([start, `(${call}, `], [end, ')']);
      else insertions.push([start + 1, ` ${call};`]);
    }
    for (const key of visitorKeys[node.type]) {
      for (const child of [node[key]].flat()) if (child) visit(child, inside);
    }
  };
  visit(program, []);

  const exported = module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest));
  const requests = [...module.staticImports.map((imported) => imported.moduleRequest), ...exported];
  // Each name of a re-export has a request of its own, at the same place.
  for (const [end, specifier] of new Map(requests.filter(Boolean).map(({ end, value }) => [end, value]))) {
    if (specifier.startsWith('.')) insertions.push([end - 1, '.mjs']);
  }
  const tsconfigRaw = { compilerOptions: { verbatimModuleSyntax: true } };
  const { code } = transformSync(insert(source, insertions), { loader: 'ts', target: 'es2022', tsconfigRaw });
  return { ...found, code };
}

function nameOf(key) {
  return key?.type === 'PrivateIdentifier' ? `#${key.name}` : key?.name;
}

function insert(source, insertions) {
  let text = '';
  let done = 0;
  for (const [offset, inserted] of insertions.sort(([a], [b]) => a - b)) {
    text += source.slice(done, offset) + inserted;
    done = offset;
  }
  return text + source.slice(done);
}
