// `npx tickless …`: bundled with its packages into dist/cli.js.

import { stderr, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { run } from './program.ts';

async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} (y/N) `)).trim());
  } finally {
    lines.close();
  }
}

process.exitCode = await run(process.argv.slice(2), {
  print: (text) => void stdout.write(`${text}\n`),
  printError: (text) => void stderr.write(`${text}\n`),
  confirm: stdin.isTTY ? confirm : undefined,
  env: process.env,
});
