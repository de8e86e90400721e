// Prints the public surface from the declarations in src, for docs/cheatsheet.md.
//
//   node scripts/cheatsheet.mjs             the page
//   node scripts/cheatsheet.mjs --check     fails where docs/cheatsheet.md says something else
//   node scripts/cheatsheet.mjs --write     puts it there, between its marks
//
// Of the core: classes with their members, functions, constants and types; of the other entries functions, constants, classes and
// options. Base classes, and the options of methods and their bases, are printed once, also where they are not exported.
// Properties are written as in a destructuring assignment: with the default that their docstring gives, where it is short.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { scriptArguments } from './support/arguments.mjs';
import { putBetweenMarks } from './support/marks.mjs';
import { root } from './support/project.mjs';

const { check, write } = scriptArguments({ check: { type: 'boolean' }, write: { type: 'boolean' } }).values;
const page = join(root, 'docs/cheatsheet.md');
const WIDTH = 120;
const LONGEST_DEFAULT = 30;
/** A longer type says less than its name. */
const MOST_LINES = 4;

// ---- declarations -------------------------------------------------------------------------------------------------

const modules = new Map();

/** The declarations of a file, the exported ones by their exported name, and a look-up of any name that the file uses. */
function moduleOf(path) {
  const known = modules.get(path);
  if (known) return known;
  const text = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, text);
  const [exported, local, imported] = [new Map(), new Map(), new Map()];
  const lookUp = (name) => local.get(name) ?? imported.get(name)?.();
  const result = { exported };
  modules.set(path, result);
  const fileOf = (source) => join(dirname(path), source.value);
  for (const node of program.body) {
    const isExport = node.type === 'ExportNamedDeclaration';
    if (node.type === 'ImportDeclaration' && node.source.value.startsWith('.'))
      for (const { local: own, imported: other } of node.specifiers)
        imported.set(own.name, () => moduleOf(fileOf(node.source)).exported.get(other?.name));
    const declaration = isExport ? node.declaration : node;
    for (const one of declaration?.declarations ?? [declaration]) {
      const name = one?.id?.name;
      if (name === undefined) continue;
      const { overloads = [] } = local.get(name) ?? {};
      const found = { node: one, text, comments, lookUp, overloads: [...overloads, one] };
      local.set(name, overloads.length > 0 ? { ...found, node: overloads[0] } : found);
      if (isExport) exported.set(name, local.get(name));
    }
    if (isExport && node.source?.value.startsWith('.'))
      for (const { local: other, exported: own } of node.specifiers)
        exported.set(own.name, moduleOf(fileOf(node.source)).exported.get(other.name));
  }
  return result;
}

/** The docstring that ends where a declaration begins. */
function docOf({ comments, text }, start) {
  const doc = comments.findLast(({ end }) => end <= start);
  return doc?.type === 'Block' && text.slice(doc.end, start).trim() === '' ? doc.value : '';
}

function defaultOf(declaration, member) {
  const doc = docOf(declaration, member.start)
    .replace(/^\s*\* ?/gm, '')
    .trim();
  const [, text] = /@default ([^\n:]*)(?:\n@|$)/.exec(doc) ?? [];
  return text === undefined || text.length > LONGEST_DEFAULT ? '' : ` = ${text.trim()}`;
}

// ---- as text ------------------------------------------------------------------------------------------------------

const squeezed = (text) =>
  text
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
const plain = (text) =>
  squeezed(text)
    .replaceAll('readonly ', '')
    .replace(/ \| undefined\b/g, '')
    .replace(/,? (\)|\])/g, '$1')
    .replace(/\( /g, '(');

const nameOf = ({ key, text }) => text.slice(key.start, key.end);

/** Lines of at most {@link WIDTH} characters, of texts that stay whole. */
function wrapped(begin, texts, end, glue = ', ') {
  const one = [begin, ...(texts.length > 0 ? [texts.join(glue)] : []), end].join(' ');
  if (one.length <= WIDTH) return [one];
  const lines = [''];
  for (const [index, each] of texts.entries()) {
    const next = each + (index < texts.length - 1 ? glue : '');
    if ((lines.at(-1) + next).length > WIDTH - 2) lines.push('');
    lines[lines.length - 1] += next;
  }
  return [begin, ...lines.map((line) => `  ${line.trimEnd()}`), end];
}

const slice = (text, node) => (node ? text.slice(node.start, node.end) : '');

function generics(text, { typeParameters }) {
  if (!typeParameters) return '';
  const named = typeParameters.params.map(
    (one) => slice(text, one.name) + (one.default ? ` = ${slice(text, one.default)}` : ''),
  );
  return `<${named.join(', ')}>`;
}

function parameters(text, { params }) {
  return params
    .map((param) => {
      const target = param.type === 'AssignmentPattern' ? param.left : (param.parameter ?? param);
      const [all] = target.typeAnnotation?.typeAnnotation.types ?? []; // an intersection: the others check what the first is
      const isIntersection = target.typeAnnotation?.typeAnnotation.type === 'TSIntersectionType';
      const type = isIntersection
        ? `: ${plain(slice(text, all))}`
        : plain(slice(text, target.typeAnnotation));
      const isOptional = target.optional || param.type === 'AssignmentPattern';
      return `${target.argument ? `...${target.argument.name}` : (target.name ?? 'options')}${isOptional ? '?' : ''}${type}`;
    })
    .join(', ');
}

const returned = (text, { returnType }) => plain(slice(text, returnType));

/** The implementation of a method is not part of its declaration where it has overloads. */
const isOverload = ({ key, value }, name, text) =>
  value?.body === null && key !== undefined && slice(text, key) === name;

/** The overloads that do not narrow an option of another one (`FileSourceOptions & { parse: 'csv' }`); the first where all do. */
function shownOverloads({ node, overloads, text }) {
  const declared = overloads.filter(({ type }) => type === 'TSDeclareFunction');
  const general = declared.filter(
    ({ params }) => !params.some((param) => slice(text, param).includes('& {')),
  );
  return general.length > 0 ? general : [node];
}

/** The members of a list in place of `(typeof LIST)[number]`. */
function unionOf(text, type) {
  const [, list] = /^\(typeof (\w+)\)\[number\]$/.exec(type) ?? [];
  const [, members] = new RegExp(`const ${list} = \\[([^\\]]*)\\] as const`).exec(text) ?? [];
  return (
    members
      ?.split(',')
      .map((one) => one.trim())
      .filter(Boolean)
      .join(' | ') ?? type
  );
}

const PRINTERS = {
  TSInterfaceDeclaration({ node, text, ...rest }) {
    const { id, body, extends: bases } = node;
    const above = bases?.length ? ` extends ${bases.map((base) => plain(slice(text, base))).join(', ')}` : '';
    const members = body.body.map((member) => {
      if (member.type !== 'TSPropertySignature') return plain(slice(text, member)).replace(/;$/, '');
      return nameOf({ key: member.key, text }) + defaultOf({ text, ...rest }, member);
    });
    const names = members.filter((one, index) => members.indexOf(one) === index);
    return wrapped(`interface ${id.name}${generics(text, node)}${above} {`, names, '}');
  },
  TSTypeAliasDeclaration({ node, text }) {
    const name = `type ${node.id.name}${generics(text, node)}`;
    const [first, ...others] = unionOf(text, plain(slice(text, node.typeAnnotation)))
      .replace(/^\| /, '')
      .split(/ (?=\| )/);
    const lines = [`${name} = ${first}`];
    for (const other of others)
      if (`${lines.at(-1)} ${other}`.length <= WIDTH) lines.push(`${lines.pop()} ${other}`);
      else lines.push(`  ${other}`);
    return lines.length <= MOST_LINES && lines.every((line) => line.length <= WIDTH) ? lines : [name];
  },
  ClassDeclaration({ node, text, ...rest }) {
    const { id, superClass, superTypeArguments, body } = node;
    const above = superClass ? ` extends ${slice(text, superClass)}${slice(text, superTypeArguments)}` : '';
    const overloads = new Set();
    const members = body.body.flatMap((member) => {
      const { key, accessibility, kind, value, static: isStatic } = member;
      if (key === undefined || key.type === 'PrivateIdentifier' || accessibility === 'private') return [];
      if (/@internal/.test(docOf({ text, ...rest }, member.start))) return [];
      const name = text.slice(key.start, key.end);
      const shown = `${isStatic ? 'static ' : ''}${accessibility === 'protected' ? 'protected ' : ''}${member.computed ? `[${name}]` : name}`;
      if (member.type.endsWith('PropertyDefinition'))
        return [`${shown}${plain(slice(text, member.typeAnnotation))}`];
      const overload = `${shown}/${value.params.length}`;
      const isImplementation =
        value.body !== null && body.body.some((other) => isOverload(other, name, text));
      if (overloads.has(overload) || isImplementation || kind === 'set') return [];
      overloads.add(overload);
      if (kind === 'get') return [`${shown}${returned(text, value)}`];
      return [`${shown}(${parameters(text, value)})${returned(text, value)}`];
    });
    return [`class ${id.name}${generics(text, node)}${above} {`, ...members.map((one) => `  ${one}`), '}'];
  },
  FunctionDeclaration: ({ text, ...rest }) =>
    shownOverloads({ text, ...rest }).map(
      (node) =>
        `function ${node.id.name}${generics(text, node)}(${parameters(text, node)})${returned(text, node)}`,
    ),
  VariableDeclarator({ node, text }) {
    const type = node.id.typeAnnotation?.typeAnnotation;
    if (type?.type !== 'TSTypeLiteral')
      return [`const ${node.id.name}${plain(slice(text, node.id.typeAnnotation))}`];
    return wrapped(
      `const ${node.id.name}: {`,
      type.members.map((member) => nameOf({ key: member.key, text })),
      '}',
    );
  },
};

PRINTERS.TSDeclareFunction = PRINTERS.FunctionDeclaration;

// ---- the page -----------------------------------------------------------------------------------------------------

const { name, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
/** Of one entry. */
const ORDER = [
  'ClassDeclaration',
  'FunctionDeclaration',
  'TSDeclareFunction',
  'VariableDeclarator',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
];
/** The printed ones, so that each is printed once. */
const printed = new Set();

/** The names of types that are printed behind a declaration: of base types, and of the options that it shows. */
function namesBehind({ node, text }, lines) {
  const bases = [node.superClass, ...(node.extends ?? [])].map((base) => slice(text, base));
  return [...bases.join().matchAll(/\b[A-Z]\w*/g), ...lines.join().matchAll(/\b[A-Z]\w*Options\b/g)].flat();
}

/** Declarations as lines, each with those behind it, and once. */
function withThoseBehind(declarations) {
  return declarations.flatMap((declaration) => {
    if (declaration === undefined || printed.has(declaration.node)) return [];
    printed.add(declaration.node);
    const { node, lookUp } = declaration;
    const lines = PRINTERS[node.type](declaration);
    return [{ node, lines }, ...withThoseBehind(namesBehind(declaration, lines).map(lookUp))];
  });
}

const sections = Object.entries(exports)
  .filter(([, { types }]) => types)
  .map(([path, { types }]) => {
    const source = join(root, types.replace('./dist', 'src').replace(/\.d\.ts$/, '.ts'));
    const isShown = ({ node }) =>
      path === '.' || !/^TS(?!Declare)/.test(node.type) || node.id.name.endsWith('Options');
    const rank = ({ node }) => ORDER.indexOf(node.type);
    const lines = withThoseBehind([...moduleOf(source).exported.values()].filter(isShown))
      .toSorted((one, other) => rank(one) - rank(other))
      .flatMap(({ lines }) => lines);
    return `## \`${name}${path.slice(1)}\`\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
  });
const text = sections.join('\n');

if (write) await putBetweenMarks(page, 'declarations', text);
else if (!check) console.log(text);
else if (!readFileSync(page, 'utf8').includes(text.trim())) {
  console.error('docs/cheatsheet.md is not as the declarations are (--write puts them there)');
  process.exit(1);
}
