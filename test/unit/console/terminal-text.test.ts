import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { run } from '../../../src/cli/program.ts';

it('an answer of a console can not send commands to the terminal', async () => {
  const server = createServer((_, response) => {
    const error = { code: 'FAILED', message: 'no\u001b]0;title\u0007\u009b2J' };
    response.writeHead(500).end(JSON.stringify({ error }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  expect(await run(['status', '--url', url], { print, printError: print, confirm: undefined, env: {} })).toBe(
    2,
  );
  server.close();
  expect(printed.join()).toContain(']0;title');
  expect(printed.join()).not.toMatch(/\p{Cc}/u);
});
