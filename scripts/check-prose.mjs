// Finds habits of wording that the documents and comments of this project avoid, and names the plain alternative.
//
//   node scripts/check-prose.mjs                  README.md, CONTRIBUTING.md, CHANGELOG.md, docs and src
//   node scripts/check-prose.mjs README.md docs   only these files and folders
//
// Markdown is checked without its code; TypeScript only in its comments and string literals. Sections that a script
// generates (`<!-- name: command -->` … `<!-- end of name -->`) are skipped.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { scriptArguments } from './support/arguments.mjs';
import { root } from './support/project.mjs';

const DEFAULT_PATHS = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs', 'src'];

/** Groups of people, of whom "who" is right. */
const PEOPLE = '(?:people|users|operators|engineers|those|teams|maintainers|authors|reader|person)';

/** Expressions to find, each with what to write instead. `\s+` also matches a line break. */
const HABITS = [
  [`(?<!\\b${PEOPLE}\\s+)\\bwho(?:m|ever)?\\b(?![^.|]*\\?)`, 'name it: the read, the caller, the instance'],
  [/(?<!#[^\n]*)\bWhat\b(?!\s+happens\s+when)(?![^.|\n]*\?)/, 'a noun phrase or a verb, not a clause', 'g'],
  [/(?:[;:]|(?<!\be\.g|\bi\.e)\.)\s+what\s+\w+/, 'a noun phrase as the subject, not a clause', 'g'],
  [/\bthat\s+which\b/, 'a noun phrase'],
  [/\b(?:he|him|his|himself)\b/, 'it, its, they'],
  [/\btold\b(?!\s+apart)|\btell(?:s|ing)?\s+(?:of|what|listeners|the\s+logger)\b/, 'reported, logged'],
  [/\bsaid\b/, 'returned, reported, set'],
  [/\b(?:brings?|brought|bringing)\b(?!\s+(?:up|down|back)\b)/, 'returns, loads, causes'],
  [/\bbec(?:omes?|ame)\s+of\b/, 'happens to'],
  [/\bso\s+(?:many|long)\b(?!\s+(?:as|that)\b)/, 'at most N; how long'],
  [/\b(?:nobody|somebody|anybody|everybody)\b/, 'no caller, another instance, an operator'],
  [/\bthat\s+there\s+(?:is|are)\s+not\b/, 'unknown, missing'],
  [
    /(?<!\bthere\s+)\b(?:is|are|was|were)\s+no\s+(?!longer\b|more\b|less\b|later\b|older\b|newer\b|greater\b)\w+/,
    'not a …',
  ],
  [/(?<=[.:|]\s+)(?:Is|Has|Was|Had)\s+(?:it|the|its|their|a)\b[^.?!:|]*\./, 'subject first: When …, …', 'g'],
  [/\bharm(?:s|ed)?\s+nobody\b|\bdo(?:es)?\s+no\s+harm\b/, 'does not affect …'],
  [/\b(?:an|each|another|its|your|own|lock's|store's)\s+engine\b(?!\s+of\s+tickless)|\bengines\b/, 'backend'],
  [/\bengine(?:'s)?\s+(?:own\s+)?(?:wall\s+)?clock\b|\bengine-clock\b/, "the server's clock"],
  [/\btak(?:es?|ing)\s+over\s+(?:its|their|what|the\s+result)\b/, 'adopt; replace'],
  [/\bpass(?:es|ed|ing)?\s+over\b/, 'ignores, overrides'],
  [/\bpush(?:es|ed|ing)?\s+out\b|\blet\s+go\b/, 'evict'],
  [/\bst(?:and|ands|anding|ood)\s+by\b|\bstand-by\b/, 'defers'],
  [/\bst(?:and|ands|anding|ood)\s+still\b/, 'is paused, is stopped'],
  [/\b(?:asleep|awake|sleeps\s+as|wakes\s+the)\b/, 'passivated; activated'],
  [/\b(?:shelf|vacanc(?:y|ies))\b/, 'slot table; negative cache'],
  [/\b(?:burst[-\s]clock|foreign\s+code)\b/, 'coarse clock; user code'],
  [/\b(?:Launcher|Starter|Intake|UnderWay|Leaver)\b/, 'Loader, LoadHandle, CancellableWaiter', 'g'],
  [/\b(?:Teller|Keeper|Passenger|StandBy)\b/, 'LoadReporter, EntryOwner, BatchItem, Deferred', 'g'],
  [/\b(?:Pump|Seat|askForLease|judgedAt)\b/, 'DueQueue, GroupSlot, acquireLease, validatedEpoch', 'g'],
  [/\bin\s+the\s+midst\s+of\b|\bof\s+one's\s+own\b/, 'during; your own'],
].map(([pattern, advice, flags = 'gi']) => ({ pattern: new RegExp(pattern, flags), advice }));

/** Spaces in the place of a text, so that the rest keeps its lines and columns. */
const blank = (text) => text.replace(/[^\n]/g, ' ');
const withoutCode = (markdown) =>
  markdown
    .replace(/^([ \t]*(?:`{3,}|~{3,}))[\s\S]*?^\1[ \t]*$/gm, blank)
    .replace(/`[^`\n]*`/g, (code) => '`'.repeat(code.length))
    .replace(/\]\([^)\s]*\)/g, blank);

function proseOfMarkdown(text) {
  return withoutCode(text.replace(/<!-- (\S+): [\s\S]*?<!-- end of \1 -->/g, blank));
}

/** Comments and string literals; all else becomes NUL, which no expression matches. */
function proseOfTypeScript(text) {
  const token =
    /(?<comment>\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*(?:\n[ \t]*(?=\/\/))?)+)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|[^\s]/g;
  return text.replace(token, (found, comment) => {
    if (found.length === 1 || /^'\.{1,2}\//.test(found)) return '\0'.repeat(found.length); // code; the path of an import
    if (comment === undefined) return found.replace(/\$\{[^}]*\}/g, blank);
    const bare = comment.replace(/^[ \t]*(?:\/\*+|\*+\/|\/\/|\*)|\*\/$/gm, blank);
    return withoutCode(bare);
  });
}

/** The habits found in a text, in the order of their places. */
export function habitsIn(text, isMarkdown) {
  const prose = isMarkdown ? proseOfMarkdown(text) : proseOfTypeScript(text);
  return HABITS.flatMap(({ pattern, advice }) =>
    Array.from(prose.matchAll(pattern), ({ 0: found, index }) => ({
      line: prose.slice(0, index + found.search(/\w/)).split('\n').length,
      found: found.replace(/\s+/g, ' ').trim(),
      advice,
    })),
  ).sort((a, b) => a.line - b.line);
}

function filesOf(path) {
  if (!statSync(path).isDirectory()) return [path];
  const files = readdirSync(path, { recursive: true }).filter((file) =>
    /(?<!page-text)\.(?:md|ts|mts|mjs)$/.test(file),
  );
  return files.sort().map((file) => join(path, file));
}

function main(paths) {
  let count = 0;
  const files = paths.flatMap((path) => filesOf(resolve(root, path)));
  for (const file of files) {
    for (const { line, found, advice } of habitsIn(readFileSync(file, 'utf8'), file.endsWith('.md'))) {
      console.log(`${relative(root, file)}:${line}: found "${found}": say ${advice}`);
      count += 1;
    }
  }
  console.log(`${count} habits of wording found in ${files.length} files`);
  process.exitCode = count === 0 ? 0 : 1;
}

const isMain = process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href;
if (isMain) {
  const { positionals } = scriptArguments({}, { name: 'file or folder' });
  main(positionals.length > 0 ? positionals : DEFAULT_PATHS);
}
