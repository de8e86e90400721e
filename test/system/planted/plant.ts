import { parseAst } from 'vite';

/** A way in which a function can be wrong. */
export interface Fault {
  readonly name: string;
  /** The module, from the root of the repository. */
  readonly in: string;
  /** What is replaced: `decide`, `Flight.end`, `Flight.#land`. A getter is a method without parameters. */
  readonly replace: string;
  /**
   * An arrow function that takes its place. It sees what the module imports and declares, `this`, and `original`: the
   * function that it replaces, bound to `this`.
   */
  readonly by: string;
}

declare global {
  /** The name of the fault that is switched on. */
  var planted: string | undefined;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly [field: string]: unknown;
}

/** A function, and what declares it. */
interface Target {
  readonly key: Node;
  readonly end: number;
  /** The declaration that takes its name, around a body. */
  readonly declare: (body: string) => string;
  /** Where the original is found. */
  readonly original: string;
  readonly isGetter: boolean;
  readonly privateNames: ReadonlySet<string>;
}

/**
 * The text of a module with all of its faults. Each function that one of them replaces does what the fault says that
 * `globalThis.planted` names, or else what it always did.
 *
 * @param code JavaScript.
 * @throws {Error} for a function or a name that the module has not.
 */
export function plant(code: string, faults: readonly Fault[]): string {
  const program = parseAst(code) as unknown as Node;
  const edits: { readonly at: number; readonly text: string }[] = [];
  for (const replace of new Set(faults.map((fault) => fault.replace))) {
    const ofOne = faults.filter((fault) => fault.replace === replace);
    const target = find(program, replace);
    if (target === undefined) throw new Error(`no such function: ${replace} in ${ofOne[0]!.in}`);
    for (const fault of ofOne) checkNames(program, target, fault);
    edits.push(
      { at: target.key.end, text: SUFFIX },
      { at: target.end, text: `\n${switchOf(target, ofOne)}` },
    );
  }
  let result = code;
  for (const { at, text } of edits.toSorted((a, b) => b.at - a.at)) {
    result = result.slice(0, at) + text + result.slice(at);
  }
  return result;
}

const SUFFIX = '$original';

function find(program: Node, path: string): Target | undefined {
  const [name, member] = path.split('.');
  for (const statement of program.body as Node[]) {
    const isExported = statement.type === 'ExportNamedDeclaration';
    const declaration = (isExported ? statement.declaration : statement) as Node | null;
    const prefix = isExported ? 'export ' : '';
    if (declaration?.type === 'ClassDeclaration' && (declaration.id as Node).name === name) {
      return memberOf((declaration.body as Node).body as Node[], member);
    }
    if (member !== undefined) continue;
    const { end } = statement;
    const common = { end, original: `${name}${SUFFIX}`, isGetter: false, privateNames: new Set<string>() };
    if (declaration?.type === 'FunctionDeclaration' && (declaration.id as Node).name === name) {
      const declare = (body: string): string => `${prefix}function ${name}(...$) ${body}`;
      return { ...common, key: declaration.id as Node, declare };
    }
    if (declaration?.type !== 'VariableDeclaration') continue;
    const key = (declaration.declarations as Node[])
      .map(({ id }) => id as Node)
      .find((id) => id.name === name);
    const declare = (body: string): string => `${prefix}const ${name} = (...$) => ${body};`;
    if (key !== undefined) return { ...common, key, declare };
  }
  return undefined;
}

function memberOf(members: readonly Node[], name: string | undefined): Target | undefined {
  const nameOf = ({ key }: Node): string =>
    (key as Node)?.type === 'PrivateIdentifier' ? `#${(key as Node).name}` : `${(key as Node)?.name}`;
  const found = members.find((member) => member.type === 'MethodDefinition' && nameOf(member) === name);
  if (found === undefined) return undefined;
  const isGetter = found.kind === 'get';
  return {
    key: found.key as Node,
    end: found.end,
    declare: (body) => `${isGetter ? 'get ' : ''}${name}(${isGetter ? '' : '...$'}) ${body}`,
    original: `this.${name}${SUFFIX}`,
    isGetter,
    privateNames: new Set(members.map(nameOf).filter((name) => name.startsWith('#'))),
  };
}

function switchOf({ declare, original, isGetter }: Target, faults: readonly Fault[]): string {
  const args = isGetter ? '' : '...$';
  const cases = faults.map(({ name, by }) => `case ${JSON.stringify(name)}: return (${by})(${args});`);
  return declare(`{
    const original = (${args}) => ${original}${isGetter ? '' : '(...$)'};
    switch (globalThis.planted) { ${cases.join('\n')} }
    return original(${args});
  }`);
}

/** A name that was changed must not be taken for a fault that was seen. */
function checkNames(program: Node, { privateNames }: Target, { name, by, in: file }: Fault): void {
  const own = parseAst(`class _ { _() { return ${by}; } }`) as unknown as Node;
  const known = new Set(['original', 'undefined', ...namesIn(program, false), ...namesIn(own, true)]);
  for (const node of nodesOf(own)) {
    const isPrivate = node.type === 'PrivateIdentifier';
    if (!isPrivate && node.type !== 'Identifier') continue;
    const used = `${isPrivate ? '#' : ''}${node.name}`;
    if (privateNames.has(used) || (!isPrivate && (known.has(used) || used in globalThis))) continue;
    throw new Error(`no such name: ${used} in ${file}, for the fault ${JSON.stringify(name)}`);
  }
}

/** The names that a module declares, imports included. @param isDeep those within its functions too. */
function namesIn(program: Node, isDeep: boolean): string[] {
  const statements = program.body as Node[];
  const ofStatement = (node: Node): unknown[] => [node, node.declaration, node.specifiers, node.declarations];
  const top = statements.flatMap((node) => [
    ...ofStatement(node),
    ...ofStatement((node.declaration ?? {}) as Node),
  ]);
  const declaring = (isDeep ? [...nodesOf(program)] : top.flat()) as (Node | null | undefined)[];
  const declared = declaring.flatMap((node) => [
    node?.id,
    node?.local,
    ...(isDeep ? [node?.params, node?.param] : []),
  ]);
  return [...nodesOf(declared.flat())].flatMap(({ name }) => name ?? []);
}

/** A node, or several, and all below them, but for names of properties. */
function* nodesOf(node: unknown): Generator<Node> {
  if (Array.isArray(node)) for (const one of node) yield* nodesOf(one);
  if (typeof (node as Node | null | undefined)?.type !== 'string') return;
  yield node as Node;
  const { type, computed, ...fields } = node as Node;
  for (const [field, value] of Object.entries(fields)) {
    const isName = !computed && ((type === 'MemberExpression' && field === 'property') || field === 'key');
    if (!isName || (value as Node).type === 'PrivateIdentifier') yield* nodesOf(value);
  }
}
