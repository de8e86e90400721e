// `npx tickless …`: bundled with its packages into dist/cli.js.

import { once } from 'node:events';
import { stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { run } from './program.ts';

/** The end of the input is a no. */
async function confirm(question: string): Promise<boolean> {
  // Line by line, as the system edits them: no escape sequences, whatever the terminal is.
  const lines = createInterface({ input: stdin, output: stderr, terminal: false });
  const ended = once(lines, 'close').then(() => undefined);
  const answer = await Promise.race([lines.question(`${question} (y/N) `), ended]);
  if (answer === undefined) stderr.write('\n'); // after the question
  lines.close();
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

// A question that a person can't see would wait for ever.
const isTerminal = stdin.isTTY && stderr.isTTY;

process.exitCode = await run(process.argv.slice(2), {
  print: (text) => void stdout.write(`${text}\n`),
  printError: (text) => void stderr.write(`${text}\n`),
  confirm: isTerminal ? confirm : undefined,
  env: process.env,
});
